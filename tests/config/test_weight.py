"""What a page weighs, and what it tells search engines."""

import gzip
import posixpath
import re
from html.parser import HTMLParser

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client

from accounts.models import User
from marketplace.models import App
from tests import factories

SCRIPTS = sorted(path.name for path in (settings.BASE_DIR / "static/js/scripts").glob("*.js"))
SHEETS = sorted(path.name for path in (settings.BASE_DIR / "static/css/sheets").glob("*.css"))


class Head(HTMLParser):
    """The elements of a page that load something, and its metadata."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def all(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        return [found for name, found in self.found if name == tag and attributes.items() <= found.items()]


@pytest.fixture
def listed(dana: User) -> App:
    return factories.approve(factories.app(dana, slug="bell")).app


@pytest.mark.parametrize("path", ["/", "/marketplace/", "/docs/", "/docs/guides/events/"])
@pytest.mark.django_db
def test_page_has_one_sheet_one_module_and_a_description(client: Client, path: str) -> None:
    head = Head(client.get(path).text)
    assert len(head.all("link", rel="stylesheet")) == 1
    assert len(head.all("script", type="module")) == 1
    assert head.all("meta", name="description")[0]["content"]
    assert head.all("link", rel="canonical")[0]["href"] == f"http://testserver{path}"
    assert head.all("meta", property="og:title")[0]["content"]


@pytest.mark.parametrize("name", SHEETS)
def test_sheet_is_one_file_with_all_its_parts(name: str) -> None:
    path = finders.find(f"sheets/{name}")
    assert path
    with open(path) as file:
        text = file.read()
    assert "@import" not in text
    assert "@layer tokens" in text
    assert len(gzip.compress(text.encode())) < 14_000


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_is_one_file_that_asks_for_no_other(name: str) -> None:
    path = finders.find(f"scripts/{name}")
    assert path
    with open(path) as file:
        text = file.read()
    assert not re.search(r"^\s*(import|export)\b", text, re.MULTILINE)
    assert text.count("\n// Has screen readers say a sentence") <= 1, "Each part is there once."
    assert len(gzip.compress(text.encode())) < 12_000


@pytest.mark.django_db
def test_pages_are_compressed_and_answers_of_the_api_are_not(client: Client) -> None:
    """A page's secrets are masked or in a cookie, and Django pads compressed pages by random bytes (BREACH)."""
    packed = {"HTTP_ACCEPT_ENCODING": "gzip"}
    page = client.get("/docs/reference/orders/", **packed)
    assert page["Content-Encoding"] == "gzip"
    assert len(page.content) < 15_000
    assert b"<h1" in gzip.decompress(page.content)
    answer = client.get("/docs/openapi.json", **packed)
    assert answer.status_code == 200
    refused = client.get("/app-api/products", **packed)
    assert "Content-Encoding" not in refused


@pytest.mark.long
@pytest.mark.django_db
def test_crawlers_find_public_pages_and_no_others(client: Client, app: App, listed: App) -> None:
    robots = client.get("/robots.txt").text
    assert "Disallow: /portal/\n" in robots
    address = re.findall(r"^Sitemap: http://[^/]+(/\S+)$", robots, re.MULTILINE)[0]
    locations = re.findall(r"<loc>(.*?)</loc>", client.get(address).text)
    paths = [location.removeprefix("http://testserver") for location in locations]
    assert "/marketplace/bell/" in paths
    assert f"/marketplace/{app.slug}/" not in paths  # a draft
    assert {client.get(path).status_code for path in paths} == {200}


@pytest.mark.django_db
def test_later_pages_of_a_list_have_titles_of_their_own(client: Client) -> None:
    titles = [re.findall(r"<title>(.*)</title>", client.get(f"/marketplace/?page={n}").text) for n in (1, 2)]
    assert titles[0] != titles[1]


def test_icons_are_where_browsers_look_for_them(client: Client) -> None:
    assert client.get("/favicon.ico").status_code == 200
    assert client.get("/apple-touch-icon.png")["Content-Type"] == "image/png"


@pytest.mark.django_db
def test_error_page_has_its_sheet(client: Client) -> None:
    assert Head(client.get("/nothing/", headers={"accept": "text/html"}).text).all("link", rel="stylesheet")


@pytest.mark.parametrize("name", SHEETS)
def test_what_a_sheet_imports_is_found_by_collectstatic(name: str) -> None:
    """Which refuses a sheet that names a missing file; in development nothing reads the list itself."""
    text = (settings.BASE_DIR / "static/css/sheets" / name).read_text()
    for part in re.findall(r'@import (?:url\()?"([^"]+)"', text):
        assert finders.find(posixpath.normpath(f"css/sheets/{part}")), part
