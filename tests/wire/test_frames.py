"""Which pages the operator's own pages may show in a frame, and what they are there (contract, section 16)."""

import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import Business, User
from installations.models import Installation
from tests import factories
from tests.by_hand import Page
from tests.forms import HTML
from tests.merchants.pages import ask_for_more, installed, listed_app, page_of
from tests.pages import signed_in, words_of
from tests.pages_table import BUTTONS, FRAMED, PAGES, marked
from tests.wire.pages import EXAMPLES, PLATFORM, Route, routes

pytestmark = pytest.mark.django_db

OPERATOR, OTHER = "https://admin.example.com", "https://shop.example.com:8443"
ORIGINS = f"frame-ancestors {OPERATOR} {OTHER}"
NOWHERE = "frame-ancestors 'none'"
NEVER = (
    "accounts:",
    "account_",
    "mfa_",
    "openid",
    "prove_",
    "admin:",
    "storefront:",
    "portal:",
    "merchants:authorize",
)


@pytest.fixture
def framing(settings: Any) -> None:
    settings.EMBED_ORIGINS = (OPERATOR, OTHER)


@pytest.fixture
def installation(dana: User, shop: Business) -> Installation:
    return installed(listed_app(dana, ["read_orders"], name="Order Bell", slug="order-bell"), shop)


@pytest.fixture
def merchant(framing: None, mira: User, installation: Installation) -> Client:
    return signed_in(mira)


def policy_of(response: Any) -> str:
    found = [each.strip() for each in response["Content-Security-Policy"].split(";")]
    (ancestors,) = [each for each in found if each.startswith("frame-ancestors")]
    return str(ancestors)


def platform_routes() -> list[Route]:
    return [each for each in routes() if each.host == PLATFORM and each.name]


@pytest.mark.spec("Contract 16 Frames", "Only `/merchant/apps/…` and `/marketplace/…` may be framed")
def test_marks_of_views_are_those_of_the_table() -> None:
    found = {each.name for each in platform_routes() if getattr(each.view, "is_framable", False)}
    assert found == marked(FRAMED)
    assert not [
        name for name in found if name.startswith(NEVER) or "uninstall" in name or "reconsent" in name
    ]
    forms = {each.form for each in platform_routes() if each.name in found}
    assert all(each.startswith(("merchant/apps/", "marketplace/")) for each in forms)


@pytest.mark.long
@pytest.mark.spec("Contract 16 Frames", "Everything else keeps `frame-ancestors 'none'`")
def test_every_other_page_refuses_frames(merchant: Client, mira: User) -> None:
    """For visitors and a merchant, whether there is such an object or not."""
    wrong = []
    for route in platform_routes():
        if route.name not in PAGES and not route.name.startswith("admin:"):
            continue
        path = route.path(dict.fromkeys(route.parameters, EXAMPLES[0]))
        may_be = route.name in marked(FRAMED)
        for browser in (Client(headers=HTML), merchant):
            response = (browser.post if route.name in BUTTONS else browser.get)(f"{path}?embedded=1")
            if "Content-Security-Policy" not in response.headers and not may_be:
                continue  # files and feeds
            due = (ORIGINS, None) if may_be else (NOWHERE, "DENY")
            if (policy_of(response), response.get("X-Frame-Options")) != due:
                wrong.append((route.name, policy_of(response), response.get("X-Frame-Options")))
    assert wrong == []


@pytest.mark.spec("Contract 16 Frames", "Without `EMBED_ORIGINS` nothing changes")
def test_nothing_changes_without_the_setting(mira: User, installation: Installation) -> None:
    browser = signed_in(mira)
    for path in ("/merchant/apps/", "/marketplace/order-bell/", page_of(installation)):
        plain, asked = (
            browser.get(path),
            browser.get(f"{path}?embedded=1", headers={"sec-fetch-dest": "iframe"}),
        )
        assert (policy_of(asked), asked["X-Frame-Options"]) == (NOWHERE, "DENY")
        assert "Sec-Fetch-Dest" not in asked.get("Vary", "")
        assert without_tokens(asked) == without_tokens(plain)


def without_tokens(response: Any) -> str:
    text = response.content.decode().replace("?embedded=1", "")
    text = re.sub(r"<code>[-0-9a-f]{36}</code>", "", text)  # the request's id
    return re.sub(r'name="(csrfmiddlewaretoken|:stamp|next)" value="[^"]*"', "", text)


@pytest.mark.spec("Contract 16 Frames", "`?embedded=1` leaves out head, navigation and footer")
@pytest.mark.parametrize(
    "path", ["/merchant/apps/", "/marketplace/", "/marketplace/order-bell/", "/marketplace/none/"]
)
def test_embedded_page_has_its_content_alone(merchant: Client, path: str) -> None:
    whole, alone = merchant.get(path).content.decode(), merchant.get(f"{path}?embedded=1").content.decode()
    for part in ('<header class="top-bar"', '<footer class="footer"'):
        assert part in whole
        assert part not in alone
    assert 'class="side-nav"' not in alone
    assert "<main" in alone


def links_of(response: Any) -> dict[str, str]:
    """Of the page's links, the tag by its address."""
    tags = re.findall(r'<a\b(?:[^>"]|"[^"]*")*>', response.content.decode())
    return {found[1]: tag for tag in tags if (found := re.search(r'\shref="([^"]*)"', tag))}


@pytest.mark.spec("Contract 16 Frames", "Links within keep `embedded`, others open at the top")
def test_links_stay_in_the_frame_or_leave_it(merchant: Client, installation: Installation) -> None:
    links = links_of(merchant.get(f"{page_of(installation)}?embedded=1"))
    app_pages = [each for each in links if each.startswith(("/merchant/apps/", "/marketplace/"))]
    leaving = [each for each in app_pages if each.endswith(("/uninstall/", "/permissions/"))]
    staying = set(app_pages) - set(leaving)
    assert staying
    assert all("embedded=1" in each and "_top" not in links[each] for each in staying)
    assert f"{page_of(installation)}uninstall/" in leaving
    others = [each for each in links if each not in staying and not each.startswith("#")]
    assert all('target="_top"' in links[each] for each in others)


def test_install_of_a_listing_opens_at_the_top(merchant: Client, dana: User) -> None:
    listed_app(dana, ["read_orders"], name="Bakery", slug="bakery")
    links = links_of(merchant.get("/marketplace/bakery/?embedded=1"))
    (install,) = [each for each in links if each.startswith("/oauth/authorize")]
    assert 'target="_top"' in links[install]


def test_frame_without_the_parameter_keeps_its_head(merchant: Client) -> None:
    """A browser says that it is a frame."""
    page = merchant.get("/marketplace/", headers={"sec-fetch-dest": "iframe"})
    assert '<header class="top-bar"' in page.content.decode()
    links = links_of(page)
    assert 'target="_top"' in links["/docs/"]
    assert "_top" not in links["/marketplace/order-bell/"]


@pytest.mark.spec("Contract 16 Frames", "Forms within keep `embedded`")
def test_forms_stay_in_the_frame(merchant: Client, installation: Installation) -> None:
    page = merchant.get("/marketplace/?embedded=1&sort=newest")
    (search,) = [
        form for form in Page("/marketplace/", 200, page.content.decode()).forms if form.method == "get"
    ][:1]
    assert ("embedded", "1") in search.fields
    page = merchant.get(f"{page_of(installation)}?embedded=1")
    (pause,) = [
        form
        for form in Page(page_of(installation), 200, page.content.decode()).forms
        if form.action.endswith("/pause/?embedded=1")
    ]
    answer = merchant.post(pause.action, dict(pause.fields))
    assert answer["Location"] == f"{page_of(installation)}?embedded=1"
    installation.refresh_from_db()
    assert installation.paused_at


@pytest.mark.spec("Contract 16 Frames", "Who is signed out sees one link **Sign in** in the frame")
def test_visitor_signs_in_outside_of_the_frame(framing: None, client: Client) -> None:
    page = client.get("/merchant/apps/?embedded=1", headers=HTML)
    assert policy_of(page) == ORIGINS
    links = {url: tag for url, tag in links_of(page).items() if not url.startswith("#")}
    assert list(links) == ["/accounts/login/?next=%2Fmerchant%2Fapps%2F"]
    assert 'target="_top"' in next(iter(links.values()))
    assert "Sign in" in words_of(page)
    whole = client.get("/merchant/apps/", headers=HTML)
    assert whole["Location"] == "/accounts/login/?next=/merchant/apps/"


@pytest.mark.spec("Contract 16 Frames", "Consent is never in a frame")
def test_question_of_an_app_is_answered_outside_of_the_frame(
    merchant: Client, installation: Installation
) -> None:
    ask_for_more(installation, ["read_orders", "read_products"])
    assert "Approve</button>" in merchant.get("/merchant/apps/").content.decode()
    framed = merchant.get("/merchant/apps/", headers={"sec-fetch-dest": "iframe"})
    assert "Approve</button>" not in framed.content.decode()
    assert 'target="_top"' in links_of(framed)[f"{page_of(installation)}permissions/"]


def test_page_that_leads_out_of_the_frame_shows_a_link(framing: None, merchant: Client, mira: User) -> None:
    """No frame would show where it leads."""
    noor = factories.merchant("noor@example.com", name="Noor")
    Business.objects.filter(owner=noor).delete()
    page = signed_in(noor).get("/merchant/apps/?embedded=1")
    assert page.status_code == 200
    assert 'target="_top"' in links_of(page)["/merchant/businesses/add/"]
