"""The pages under `/docs/`, as a reader meets them."""

import re
from functools import cache
from itertools import chain
from urllib.parse import urljoin

import pytest
from django.conf import settings
from django.test import Client
from django.urls import resolve
from django.utils.html import escape
from jsonschema import Draft202012Validator

from accounts.models import User
from developers.docs import guides, navigation, reference
from developers.docs.markup import highlighted
from developers.docs.openapi import document as openapi
from stores.hookpoints import HookPoint
from tests.pages import signed_in
from webhooks.catalogue import EVENTS

PARTS = navigation.parts()
PAGES = [*navigation.paths(), "/docs/search/?q=webhook"]


@cache
def ids_on(path: str) -> set[str] | None:
    """The anchors of a page; None where there is no page. Every page links to most of the others."""
    response = Client().get(path)
    return (
        set(re.findall(r'\bid="([^"]+)"', response.content.decode())) if response.status_code == 200 else None
    )


@pytest.mark.long
@pytest.mark.spec("Contract 7 Pages", "/docs/ is there for everyone: guides, reference, event catalog")
@pytest.mark.parametrize("path", PAGES)
def test_page_is_for_everybody_and_its_links_lead_somewhere(client: Client, path: str) -> None:
    response = client.get(path)
    html = response.content.decode()
    assert response.status_code == 200
    assert html.count("<h1") == 1
    assert "http://" not in re.sub(
        r"http://(testserver|127\.0\.0\.1|localhost)|<code>.*?</code>", "", html, flags=re.DOTALL
    )
    for target in set(re.findall(r'<a [^>]*href="([^"]*)"', html)):
        page, _, place = urljoin(path, target).partition("#")
        if page.startswith("/docs/"):
            ids = ids_on(page)
            assert ids is not None, target
            assert not place or place in ids, target
        elif page.startswith("/"):
            assert resolve(page.partition("?")[0]), target


def test_start_page_has_a_path_of_five_steps_and_each_guide_in_a_list(client: Client) -> None:
    page = client.get("/docs/").content.decode()
    path, _, rest = page.partition('class="path"')[2].partition("</ol>")
    assert re.findall(r'href="/docs/guides/([^/]+)/"', path) == [
        "quickstart",
        "first-app",
        "webhooks",
        "blocks",
        "go-live",
    ]
    assert "first-app.webp" in rest
    listed = re.findall(r'class="doc-list">(.*?)</ul>', rest, re.DOTALL)
    linked = {slug for each in listed for slug in re.findall(r'href="/docs/guides/([^/]+)/"', each)}
    assert {each.slug for each in (*guides.START, *guides.MERCHANTS)} <= linked


def test_bar_of_merchants_does_not_lead_to_the_documentation_for_developers(
    client: Client, dana: User, mira: User
) -> None:
    for person, is_there in ((None, True), (dana, True), (mira, False)):
        browser = signed_in(person) if person else client
        bar = (
            browser.get("/marketplace/")
            .content.decode()
            .partition('aria-label="Main"')[2]
            .partition("</nav>")[0]
        )
        assert ('href="/docs/"' in bar) is is_there, person


@pytest.mark.spec("Contract 14 For programs", "Links between the guides as text lead to guides as text")
@pytest.mark.parametrize("slug", guides.GUIDES)
def test_links_of_a_guide_as_text_lead_somewhere(client: Client, slug: str) -> None:
    path = f"/docs/guides/{slug}.md"
    for target in set(re.findall(r"\]\(([^)\s]+)\)", client.get(path).content.decode())):
        page, _, place = urljoin(path, target).removeprefix(settings.BASE_URL).partition("#")
        if page.startswith("/"):
            assert resolve(page.partition("?")[0]), target
            assert not page.startswith("/docs/") or client.get(page).status_code == 200, target
            ids = ids_on(re.sub(r"\.md$", "/", page)) if place else None
            assert not place or (ids and place in ids), target


def test_headings_have_ids_of_their_own() -> None:
    page = guides.rendered("# Guide\n\n## HTTP 2\n\n## HTTP\n\n## HTTP 2\n\n## HTTP\n\n## HTTP")
    assert [each.ident for each in page.headings] == ["http-2", "http", "http-2-2", "http-3", "http-4"]


@pytest.mark.long
def test_titles_and_descriptions_are_unique() -> None:
    heads = [Client().get(path).content.decode() for path in navigation.paths()]
    titles = [re.findall(r"<title>(.*?)</title>", html)[0] for html in heads]
    about = [re.findall(r'<meta name="description" content="([^"]*)"', html)[0] for html in heads]
    assert len(set(titles)) == len(titles)
    assert len(set(about)) == len(about)


# Files of an app, and an address.
AUTHORS = re.compile(r"webhook_receiver\.py|test_store\.py|conftest\.py|/sdk/")


@pytest.mark.parametrize("slug", sorted(guides.GUIDES.keys() - {"sdk-store-python"}))  # for shops in Django
def test_guide_speaks_to_developers_of_apps(client: Client, slug: str) -> None:
    html = client.get(f"/docs/guides/{slug}/").content.decode().partition('<div class="prose">')[2]
    assert re.findall(r"<th[^>]*>\s*</th>", html) == []
    assert "<h2" not in re.sub(r'<h2 id="[^"]+">.*?<a class="anchor"', "", html)
    text = re.sub(r"<pre.*?</pre>", "", html, flags=re.DOTALL)
    for internal in (".py", "sdk/", "docs/hooks.md", "source tree", "manage.py", "make demo"):
        assert internal not in AUTHORS.sub("", text)
    assert re.findall(r"(?<!\">)<code>(?:http://testserver)?/docs/[\w./-]*</code>", text) == []
    source = client.get(f"/docs/guides/{slug}.md")
    assert source["Content-Type"] == "text/markdown; charset=utf-8"
    assert source.content.decode().startswith(f"# {guides.GUIDES[slug].title}\n")
    assert "{base_url}" not in source.content.decode()


def test_samples_are_highlighted_without_styles(client: Client) -> None:
    html = client.get("/docs/reference/orders/").content.decode()
    assert '<span class="a">&quot;productId&quot;</span>' in html
    assert "style=" not in html
    assert highlighted("<b>", "no-such-language") == "&lt;b&gt;"


@pytest.mark.parametrize(
    "path",
    [
        "/docs/guides/secrets/",
        "/docs/guides/operations-run.md",
        "/docs/reference/nothing/",
        "/docs/events/x.json",
    ],
)
def test_unknown_page_is_a_404(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.long
def test_every_endpoint_has_a_section_with_its_samples(client: Client) -> None:
    for group in reference.groups():
        html = client.get(f"/docs/reference/{group.slug}/").content.decode()
        for endpoint in group.endpoints:
            section = html.partition(f'<section class="endpoint" id="{endpoint.id}">')[2].partition(
                "</section>"
            )[0]
            assert escape(endpoint.operation["summary"]) in section
            assert [language in section for language in ("curl", "Python", "JavaScript")] == [True] * 3
            assert section.count('class="panel') == 3
            for requirement in endpoint.operation["security"]:
                assert all(f"<code>{scope}</code>" in section for scope in chain(*requirement.values()))
    sections = sum(len(group.endpoints) for group in reference.groups())
    assert sections == sum(map(len, openapi.document()["paths"].values()))


@pytest.mark.spec("Contract 5 Webhooks", "Every event's JSON Schema is published at /docs/events/")
@pytest.mark.parametrize("name", EVENTS)
def test_schema_of_each_event_is_published_under_its_address(client: Client, name: str) -> None:
    response = client.get(f"/docs/events/{name}.json")
    schema = response.json()
    assert response["Content-Type"] == "application/schema+json"
    assert schema["$id"] == f"http://testserver/docs/events/{name}.json"
    assert schema == client.get(f"/docs/events/{name}.json/").json()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(schema["examples"][0])


def test_catalogue_shows_each_event_and_hook(client: Client) -> None:
    events, hooks = (client.get(path).content.decode() for path in ("/docs/events/", "/docs/hooks/"))
    assert [name for name in EVENTS if f'id="{name}"' not in events] == []
    assert [str(point) for point in HookPoint if f'id="{point}"' not in hooks] == []
    assert "X-Webhook-Signature" in events
    assert "X-Webhook-Signature" in hooks


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_no_part_of_the_navigation_is_longer_than_nine(part: navigation.NavigationPart) -> None:
    assert 1 <= len(part.entries) <= 9


def test_every_page_has_its_entry_in_the_navigation() -> None:
    listed = navigation.paths()
    assert len(listed) == len(set(listed))
    assert {f"/docs/guides/{slug}/" for slug in guides.GUIDES} <= {*listed}
    assert {f"/docs/reference/{group.slug}/" for group in reference.groups()} <= {*listed}


def test_frameworks_are_tabs_and_keep_their_addresses(client: Client) -> None:
    """Only code is in them; the Markdown stays as it is written."""
    page = client.get("/docs/guides/first-app/").content.decode()
    assert page.count('type="radio"') == 4
    assert re.findall(r'<label id="(\w+)"', page) == ["flask", "django", "fastapi", "node"]
    inside = page.partition('<fieldset class="tabbed"')[2].partition("</fieldset>")[0]
    assert inside.count("<figure") == 4
    assert "The tests call your app" not in inside
    assert "### FastAPI" in client.get("/docs/guides/first-app.md").content.decode()
