"""The business and the pages of its site, as an app reads them."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Business
from installations.models import Installation
from stores.services.pages import create_page, update_page

MOMENT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.spec(
    "App API", "The Business record: id, slug, storefrontUrl, name, type, address, currency and more"
)
def test_business_record_names_every_field(
    api: Client, sandbox: Business, statements: Callable[[], CaptureQueriesContext]
) -> None:
    Business.objects.filter(pk=sandbox.pk).update(
        name="Harbour Bakery",
        type="Bakery",
        address="1 Quay Street\nPortside",
        currency="EUR",
        locale="de",
        timezone="Europe/Berlin",
        created_at=MOMENT,
    )
    with statements() as asked:
        answer = api.get("/app-api/business")
    assert answer.json() == {
        "id": str(sandbox.pk),
        "slug": sandbox.slug,
        "storefrontUrl": f"http://stores.test/store/{sandbox.slug}/",
        "name": "Harbour Bakery",
        "type": "Bakery",
        "address": "1 Quay Street\nPortside",
        "currency": "EUR",
        "locale": "de",
        "timezone": "Europe/Berlin",
        "isSandbox": True,
        "createdAt": "2026-11-20T12:00:00.000Z",
    }
    assert len(asked) == 2, [query["sql"] for query in asked]


def test_business_is_that_of_the_token(api: Client, elsewhere: Installation) -> None:
    record = api.get(f"/app-api/business?businessId={elsewhere.business_id}").json()
    assert record["id"] != str(elsewhere.business_id)


def slugs(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [page["slug"] for page in answer.json()["data"]]


@pytest.mark.spec("App API", "The Page record: id, slug, title, content, createdAt, updatedAt")
def test_page_record_names_every_field(api: Client, sandbox: Business) -> None:
    page = create_page(business=sandbox, title="About us", content="<p>Hi</p>", now=MOMENT)
    record = {
        "id": str(page.pk),
        "slug": "about-us",
        "title": "About us",
        "content": "<p>Hi</p>",
        "createdAt": "2026-11-20T12:00:00.000Z",
        "updatedAt": "2026-11-20T12:00:00.000Z",
    }
    assert api.get("/app-api/pages/about-us").json() == record
    assert api.get("/app-api/pages").json() == {"data": [record], "total": 1, "page": 1, "limit": 50}


@pytest.mark.spec("App API", "Only published pages are shown")
def test_only_published_pages_are_shown(api: Client, sandbox: Business, elsewhere: Installation) -> None:
    draft = create_page(business=sandbox, title="Draft", is_published=False)
    create_page(business=sandbox, title="Hours")
    create_page(business=elsewhere.business, title="Foreign")
    listed = api.get("/app-api/pages")
    assert (slugs(listed), listed.json()["total"]) == (["hours"], 1)
    for slug in ("draft", "foreign", "HOURS", "nothing", "%00", draft.pk):
        answer = api.get(f"/app-api/pages/{slug}")
        assert (answer.status_code, answer.json()["message"]) == (404, "Page not found")
    update_page(page=draft, is_published=True)
    assert api.get("/app-api/pages/draft").status_code == 200


@pytest.mark.long
@pytest.mark.spec("Limits", "Pages page size: default 50, at most 100")
def test_pages_are_newest_first_and_bounded(api: Client, sandbox: Business) -> None:
    newest = [create_page(business=sandbox, title="P", slug=f"p-{n}").slug for n in range(102)][::-1]
    assert slugs(api.get("/app-api/pages")) == newest[:50]
    wide = api.get("/app-api/pages?limit=1000")
    assert (slugs(wide), wide.json()["limit"], wide.json()["total"]) == (newest[:100], 100, 102)
    assert slugs(api.get("/app-api/pages?page=2&limit=100")) == newest[100:]
    assert api.get("/app-api/pages?limit=x").status_code == 400
