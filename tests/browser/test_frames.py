"""The operator's own pages, which frame pages of the platform (contract, section 16)."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from playwright.sync_api import FrameLocator, Page, expect

from accounts.models import Business, User
from config.env.people import embed_origins
from tests.accounts.providers import HostileIssuer, settings_of
from tests.merchants.pages import installed, listed_app, page_of
from tests.receivers import Answer, Receiver
from tests.waiting import wait_until

from .chromium import overflow
from .conftest import PHONE, NewPage, SignIn

SPEC = pytest.mark.spec(
    "Contract 16 Frames", "`EMBED_ORIGINS` may frame the pages of apps and the marketplace"
)
FRAMING = '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Admin of the operator</title><h1>Our admin</h1><iframe title="Apps" src="{}" {}></iframe>'
SIZE = 'style="border:0;inline-size:100%;block-size:700px"'


class Operator(Receiver):
    """The operator's admin, at an origin of its own."""

    @property
    def origin(self) -> str:
        return f"http://{self.host}:{self.port}"

    def frame(self, url: str) -> str:
        """The address of a page that has it in a frame."""
        body = FRAMING.format(url, SIZE).encode()
        self.answer_at("/admin", Answer(body=body, headers={"Content-Type": "text/html"}))
        self.answer_at("/favicon.ico", Answer(status=204))
        return f"{self.origin}/admin"


@pytest.fixture
def operator(site: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Operator]:
    with Operator() as operator:
        monkeypatch.setenv("EMBED_ORIGINS", operator.origin)
        settings.EMBED_ORIGINS = embed_origins(base_url=site, stores_url=settings.STORES_URL)
        yield operator


@pytest.fixture
def issuer(settings: Any) -> Iterator[HostileIssuer]:
    with HostileIssuer() as issuer:
        settings.IDENTITY_PROVIDER = settings_of(issuer.url, role="MERCHANT")
        settings.PASSWORD_SIGN_IN = False
        yield issuer


@pytest.fixture
def other_hosts(operator: Operator, issuer: HostileIssuer) -> list[str]:
    return [operator.origin, issuer.url]


def framed(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")


def sign_in_there(page: Page, issuer: HostileIssuer, site: str) -> None:
    """The provider asks nothing: it has a session of this person already."""

    def answer(route: Any) -> None:
        location = site + issuer.authorize(route.request.url)
        route.fulfill(status=302, headers={"Location": location})

    page.context.route(f"{issuer.url}/authorize**", answer)


@SPEC
@pytest.mark.journey
@pytest.mark.long
@pytest.mark.parametrize("look", [{}, {"color_scheme": "dark"}, PHONE], ids=["light", "dark", "phone"])
def test_from_the_operators_page_to_install(
    new_page: NewPage,
    site: str,
    operator: Operator,
    issuer: HostileIssuer,
    dana: User,
    mira: User,
    shop: Business,
    look: dict[str, Any],
) -> None:
    """With a session by the provider: two presses to **Install**, and no password."""
    listed_app(dana, ["read_orders"], name="Order Bell", slug="order-bell")
    SocialAccount.objects.create(user=mira, provider=issuer.url, uid="person-1")
    page = new_page(**look)
    sign_in_there(page, issuer, site)
    page.goto(operator.frame(f"{site}/merchant/apps/?embedded=1"))
    framed(page).get_by_role("link", name="Sign in").click()
    page.get_by_role("button", name="Sign in with Atrium").click()
    page.wait_for_url(f"{site}/merchant/apps/")

    page.goto(operator.frame(f"{site}/merchant/apps/?embedded=1"))
    frame = framed(page)
    expect(frame.get_by_role("heading", name="Apps", exact=True)).to_be_visible()
    expect(frame.locator(".top-bar, .footer, .side-nav")).to_have_count(0)
    frame.get_by_role("link", name="Browse apps").click()  # the first press
    expect(frame.get_by_role("heading", name="Order Bell")).to_be_visible()
    expect(frame.locator(".top-bar, .footer, .side-nav")).to_have_count(0)
    assert overflow(page) == 0
    assert frame.locator("html").evaluate("page => page.scrollWidth - page.clientWidth") == 0
    frame.get_by_role("link", name="Order Bell").click()  # the second
    expect(frame.get_by_role("link", name="Install", exact=True)).to_be_visible()
    assert urlsplit(page.url).path == "/admin"
    frame.get_by_role("link", name="Install", exact=True).click()
    page.wait_for_url(f"{site}/oauth/authorize**")
    expect(page.get_by_role("button", name="Install", exact=True)).to_be_visible()


@SPEC
@pytest.mark.long
@pytest.mark.journey
def test_frame_keeps_to_itself_over_several_pages(
    new_page: NewPage, sign_in: SignIn, site: str, operator: Operator, dana: User, mira: User, shop: Business
) -> None:
    """Links, and a form that changes something, with the session of the person."""
    installation = installed(listed_app(dana, ["read_orders"], name="Order Bell"), shop)
    page = new_page()
    sign_in(page.context, mira)
    page.goto(operator.frame(f"{site}/merchant/apps/?embedded=1"))
    frame = framed(page)
    frame.get_by_role("link", name="Order Bell").first.click()
    frame.get_by_role("button", name="Pause").first.click()
    expect(frame.get_by_role("button", name="Resume").first).to_be_visible()
    expect(frame.locator(".top-bar, .footer, .side-nav")).to_have_count(0)
    installation.refresh_from_db()
    assert installation.paused_at
    assert urlsplit(page.url).path == "/admin"
    frame.get_by_role("link", name="Uninstall").first.click()
    page.wait_for_url(f"{site}{page_of(installation)}uninstall/")


def refusals(page: Page) -> list[str]:
    """What the browser says about frames that it doesn't show; filled while the page loads."""
    found: list[str] = []
    page.on("console", lambda said: found.append(said.text) if "frame-ancestors" in said.text else None)
    return found


@SPEC
@pytest.mark.spec(
    "Contract 16 Frames", "Consent, sign-in, account and the administration are never in a frame"
)
@pytest.mark.parametrize(
    "path",
    [
        "/accounts/login/",
        "/accounts/security/",
        "/oauth/authorize?client_id=x",
        "/admin/",
        "/merchant/",
        "/portal/",
    ],
)
def test_browser_shows_no_other_page_in_the_frame(
    chromium: Any, site: str, operator: Operator, sign_in: SignIn, mira: User, path: str
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    refused = refusals(page)
    sign_in(context, mira)
    page.goto(operator.frame(f"{site}{path}{'&' if '?' in path else '?'}embedded=1"))
    wait_until(lambda: page.evaluate("1") and refused)
    context.close()


@SPEC
def test_other_site_frames_nothing(chromium: Any, site: str, operator: Operator, mira: User) -> None:
    """The same server at another name, which is another site."""
    context = chromium.new_context()
    page = context.new_page()
    refused = refusals(page)
    page.goto(operator.frame(f"{site}/marketplace/?embedded=1").replace("127.0.0.1", "localhost"))
    wait_until(lambda: page.evaluate("1") and refused)
    context.close()
