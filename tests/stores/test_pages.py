from datetime import UTC, datetime

import pytest

from common.errors import Conflict, Invalid, NotFound
from stores.models import SitePage
from stores.services.pages import clean_html, create_page, delete_page, update_page

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_page_gets_a_slug_from_its_title(shop):
    pages = [create_page(business=shop, title="About us", content="<p>Hi</p>", now=NOON) for _ in range(2)]
    assert [page.slug for page in pages] == ["about-us", "about-us-2"]
    assert SitePage.objects.filter(created_at=NOON, content="<p>Hi</p>", is_published=True).count() == 2


def test_taken_slug_is_a_conflict(shop):
    create_page(business=shop, title="About", slug="about")
    other = create_page(business=shop, title="Other")
    with pytest.raises(Conflict):
        create_page(business=shop, title="About", slug="about")
    with pytest.raises(Conflict):
        update_page(page=other, slug="about")


def test_bad_values_name_their_fields(shop):
    with pytest.raises(Invalid) as caught:
        create_page(business=shop, title="", slug="no spaces")
    assert {problem["field"] for problem in caught.value.details} == {"title", "slug"}


@pytest.mark.spec("Contract 15 Doors", "Every text that people or apps send has a maximum")
@pytest.mark.parametrize("text", [{"content": "x" * 20_001}, {"content": "x", "source": "x" * 20_001}])
def test_page_has_a_maximum_however_it_is_written(shop, text):
    with pytest.raises(Invalid, match="at most 20,000 characters, not 20,001"):
        create_page(business=shop, title="About", **text)
    page = create_page(business=shop, title="About", content="<p>" + "x" * 30_000, source="x" * 20_000)
    with pytest.raises(Invalid) as caught:
        update_page(page=page, **text)
    assert [problem["field"] for problem in caught.value.details] == ["content"]
    assert len(update_page(page=page, title="About us").source) == 20_000


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("<p>Hi <strong>you</strong></p>", "<p>Hi <strong>you</strong></p>"),
        ("<script>alert(1)</script><p>Hi</p>", "<p>Hi</p>"),
        ('<img src="/x.png" onerror="alert(1)">', '<img src="/x.png">'),
        ('<a href="javascript:alert(1)">x</a>', '<a rel="noopener noreferrer">x</a>'),
        ('<p style="position:fixed">x</p>', "<p>x</p>"),
        ('<iframe src="https://x.example"></iframe><form action="/"><p>x</p></form>', "<p>x</p>"),
        (
            '<a href="mailto:hello@example.com">x</a>',
            '<a href="mailto:hello@example.com" rel="noopener noreferrer">x</a>',
        ),
    ],
)
def test_content_is_cleaned_when_it_is_written(shop, written, kept):
    page = create_page(business=shop, title="About", content=written)
    assert page.content == kept
    assert update_page(page=page, content=written).content == kept
    assert clean_html(kept) == kept


def test_editing_changes_what_is_given(shop):
    page = create_page(business=shop, title="About", content="<p>Hi</p>")
    edited = update_page(page=page, is_published=False, now=NOON)
    stored = SitePage.objects.get()
    assert (stored.title, stored.content, stored.is_published) == ("About", "<p>Hi</p>", False)
    assert edited.updated_at == stored.updated_at == NOON


def test_page_that_is_gone_is_not_found(shop):
    page = create_page(business=shop, title="About")
    delete_page(page=page)
    for change in (lambda: delete_page(page=page), lambda: update_page(page=page, title="x")):
        with pytest.raises(NotFound):
            change()
