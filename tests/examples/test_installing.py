"""The sample app is installed by OAuth: from its own page, and from the marketplace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from tests.waiting import wait_until

from .driver import SampleApp
from .fake_platform import FakePlatform

ORDER = {"orderId": "o-1", "orderNumber": "1042", "amount": 24.5, "isGuest": True}


@pytest.fixture
def app(start_oauth_app: Callable[..., SampleApp]) -> SampleApp:
    return start_oauth_app()


class Browser(requests.Session):
    """A merchant's browser, as far as cookies and redirects go."""

    def go(self, url: str) -> requests.Response:
        return self.get(url, timeout=5)

    def begin(self, app: SampleApp) -> str:
        """**Install on a store**: the address of the consent page."""
        answer = self.get(f"{app.url}/install", timeout=5, allow_redirects=False)
        assert answer.status_code == 303
        return answer.headers["Location"]


@pytest.fixture
def browser(app: SampleApp) -> Browser:
    app.browser = Browser()
    return app.browser


def install(
    browser: Browser, app: SampleApp, platform: FakePlatform, business_id: str = ""
) -> requests.Response:
    """From the app's own page to the app's page on that store."""
    return browser.go(platform.oauth.consent(browser.begin(app), business_id=business_id))


@pytest.mark.spec("Authentication", "Installation flow: consent, authorize, token exchange with Basic auth")
def test_install_from_the_apps_page_shows_the_stores_products(
    browser: Browser, app: SampleApp, platform: FakePlatform
) -> None:
    assert 'href="/install"' in app.page()
    answer = install(browser, app, platform)
    assert answer.status_code == 200
    assert "<h1>Connected to Harbour Bakery</h1>" in answer.text
    assert "Order Bell is installed" in answer.text
    (token,) = platform.installations
    installation_id = platform.installations[token]["installationId"]
    assert urlsplit(answer.url).path == f"/stores/{installation_id}"
    for text in ("Black tea", "12.25 EUR", "4 in stock", "Green tea", "Sold out", "Not available"):
        assert text in answer.text
    assert token not in answer.text
    assert "code=" not in answer.url


def test_install_from_the_marketplace_has_no_state(
    browser: Browser, app: SampleApp, platform: FakePlatform
) -> None:
    """Anyone could have sent this browser here, so it sees the store only once it says that it is its own."""
    answer = browser.go(platform.oauth.install_from_the_marketplace())
    assert len(platform.installations) == 1
    assert "Order Bell is installed on Harbour Bakery" in answer.text
    (webhook,) = platform.webhooks.values()
    assert browser.go(f"{app.url}/stores/{webhook['installationId']}").status_code == 404
    assert "Connected to Harbour Bakery" in app.press("/show")
    assert "Is it your store?" not in app.page()


def test_repeated_address_of_the_marketplace_offers_the_store_to_nobody_else(
    browser: Browser, platform: FakePlatform
) -> None:
    url = platform.oauth.install_from_the_marketplace()
    assert "Is it your store?" in browser.go(url).text
    assert "Is it your store?" in browser.go(url).text
    assert "Is it your store?" not in Browser().go(url).text
    assert platform.oauth.token_calls == 1


def test_nothing_is_shown_that_was_not_offered(
    browser: Browser, app: SampleApp, platform: FakePlatform
) -> None:
    requests.get(platform.oauth.install_from_the_marketplace(), timeout=5)
    answer = browser.post(f"{app.url}/show", headers={"Origin": app.url}, timeout=5)
    assert answer.status_code == 404
    assert "Harbour Bakery" not in app.page()


@pytest.mark.long
@pytest.mark.spec("Events/Signature", "The webhook secret of the installation signs the app-defined webhook")
def test_app_defined_webhook_is_verified_with_the_installations_secret(
    browser: Browser, app: SampleApp, platform: FakePlatform
) -> None:
    pages = [install(browser, app, platform) for _ in range(2)]
    assert "POST /webhooks" not in platform.calls  # the platform registered the app's Webhook URL by itself
    first, second = platform.webhooks.values()
    assert platform.deliver(first, "order.created", ORDER).status_code == 200
    assert platform.deliver(first, "order.created", ORDER, secret=second["secret"]).status_code == 401
    shown = [browser.go(page.url).text for page in pages]
    assert ["Order 1042: 24.50 EUR" in each for each in shown] == [True, False]


def test_app_without_a_webhook_url_registers_its_own(
    browser: Browser, app: SampleApp, platform: FakePlatform
) -> None:
    platform.app_webhook_url = ""
    install(browser, app, platform)
    (webhook,) = platform.webhooks.values()
    assert webhook["url"] == f"{app.url}/webhooks"
    assert platform.deliver(webhook, "order.created", ORDER).status_code == 200


@pytest.mark.spec("Contract 3 OAuth 2.0", "Cancel at the consent comes back as access_denied with the state")
def test_cancel_is_said_and_nothing_is_connected(
    browser: Browser, app: SampleApp, platform: FakePlatform
) -> None:
    answer = browser.go(platform.oauth.consent(browser.begin(app), install=False))
    assert answer.status_code == 200
    assert "Nothing was installed" in answer.text
    assert "The merchant pressed Cancel" in answer.text
    assert "No store yet" in answer.text
    assert platform.oauth.token_calls == 0


def test_answer_to_another_browser_is_refused(
    browser: Browser, app: SampleApp, platform: FakePlatform
) -> None:
    url = platform.oauth.consent(browser.begin(app))
    for _ in range(2):
        stranger = Browser()
        answer = stranger.go(url)
        assert answer.status_code == 400
        assert "The store was not connected" in answer.text
        stranger.begin(app)  # with a flow of its own under way it is no better
        assert stranger.go(url).status_code == 400
    assert platform.oauth.token_calls == 0
    assert "Connected to" in browser.go(url).text


def test_error_with_a_foreign_state_is_refused(
    browser: Browser, app: SampleApp, platform: FakePlatform
) -> None:
    browser.begin(app)
    answer = browser.go(f"{app.url}/callback?error=access_denied&state=guessed")
    assert answer.status_code == 400


def test_state_works_once(browser: Browser, app: SampleApp, platform: FakePlatform) -> None:
    consent = browser.begin(app)
    cookies = browser.cookies.copy()
    browser.go(platform.oauth.consent(consent))
    browser.cookies = cookies
    assert browser.go(platform.oauth.consent(consent)).status_code == 400
    assert platform.oauth.token_calls == 1


@pytest.mark.spec("Contract 3 OAuth 2.0", "A further use of a code ends the token that the first gave")
def test_repeated_address_is_not_exchanged_again(
    browser: Browser, app: SampleApp, platform: FakePlatform
) -> None:
    url = platform.oauth.consent(browser.begin(app))
    first = browser.go(url)
    second = browser.go(url)
    assert urlsplit(second.url).path == urlsplit(first.url).path
    assert "Black tea" in second.text
    assert "Harbour Bakery" not in Browser().go(url).text
    assert platform.oauth.token_calls == 1


def test_code_that_was_refused_is_not_sent_again(
    browser: Browser, app: SampleApp, platform: FakePlatform
) -> None:
    for _ in range(2):
        page = browser.go(f"{app.url}/callback?code=invented").text
        assert "A code works once and for 60 seconds." in page
    assert platform.oauth.token_calls == 1


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "neither a code nor an error"),
        ("error=server_error&error_description=%3Cb%3ELater%3C/b%3E", "&lt;b&gt;Later&lt;/b&gt;"),
    ],
)
def test_other_answers_are_explained(browser: Browser, app: SampleApp, query: str, said: str) -> None:
    page = browser.go(f"{app.url}/callback?{query}").text
    assert "The store was not connected" in page
    assert said in page


def test_changed_client_secret_is_explained(browser: Browser, app: SampleApp, platform: FakePlatform) -> None:
    platform.oauth.client_secret = "fbcs_regenerated"
    assert "give this app the current one" in install(browser, app, platform).text


@pytest.mark.long
def test_token_is_kept_though_the_webhook_can_not_be_asked_for_yet(
    browser: Browser, app: SampleApp, platform: FakePlatform
) -> None:
    """The exchange happens once: what it gave must outlive an outage right after it, and the app's own end."""
    platform.broken = True
    answer = install(browser, app, platform)
    assert "The database is away" in answer.text
    platform.broken = False
    wait_until(lambda: "Harbour Bakery" in app.page())
    (webhook,) = platform.webhooks.values()
    assert platform.deliver(webhook, "order.created", ORDER).status_code == 200


def test_platform_that_is_away_is_explained(browser: Browser, app: SampleApp, platform: FakePlatform) -> None:
    platform.close()
    page = browser.go(f"{app.url}/install").text
    assert "The installation could not begin" in page
    assert "does not answer" in page


@pytest.mark.spec("Credentials", "Access Token: revoked on uninstall")
def test_uninstalled_by_the_merchant_is_seen_as_401(
    browser: Browser, app: SampleApp, platform: FakePlatform
) -> None:
    page = install(browser, app, platform)
    platform.installations.clear()
    text = browser.go(page.url).text
    assert "The platform answered 401" in text
    assert "Disconnected from Harbour Bakery" in text
    calls = len(platform.calls)
    assert "can’t be read any more" in browser.go(page.url).text
    assert len(platform.calls) == calls


@pytest.mark.spec(
    "Contract 3 OAuth 2.0", "POST /oauth/revoke: RFC 7009, by the app for its own token: uninstalls"
)
def test_uninstalling_from_the_app(browser: Browser, app: SampleApp, platform: FakePlatform) -> None:
    install(browser, app, platform)
    (token,) = platform.installations
    installation_id = platform.installations[token]["installationId"]
    page = app.press(f"/stores/{installation_id}/disconnect")
    assert "Order Bell is uninstalled from Harbour Bakery" in page
    assert platform.installations == {}
    assert "deleted when the platform asks for it" in app.store(installation_id)


@pytest.mark.long
@pytest.mark.spec("Events/Data erasure", "The receiving app must delete all stored data and answer 2xx")
def test_erasure_is_proven_on_the_page(
    browser: Browser, app: SampleApp, platform: FakePlatform, state_file: Path
) -> None:
    kept = install(browser, app, platform, business_id="business-kept")
    gone = install(browser, app, platform, business_id="business-gone")
    token = next(key for key, each in platform.installations.items() if each["businessId"] == "business-gone")
    webhook = platform.webhook_of(token)
    for _ in range(2):
        platform.deliver(webhook, "order.created", ORDER)
    assert b'"1042"' in state_file.read_bytes()
    data = {"appId": "a", "businessId": "business-gone"}
    for _ in range(2):
        assert platform.deliver(webhook, "business.data_erasure", data).status_code == 200

    assert token.encode() not in state_file.read_bytes()
    assert b'"1042"' not in state_file.read_bytes()
    page = app.page()
    assert "Erased store" in page
    assert "and 2 received webhooks" in page.replace("\n", " ")
    assert "business-gone" in page
    assert browser.go(gone.url).status_code == 404
    assert "Black tea" in browser.go(kept.url).text


def test_install_again_replaces_the_ended_one(
    browser: Browser, app: SampleApp, platform: FakePlatform, state_file: Path
) -> None:
    install(browser, app, platform, business_id="b-1")
    (token,) = platform.installations
    platform.installations.clear()
    platform.webhooks.clear()
    install(browser, app, platform, business_id="b-1")
    assert token.encode() not in state_file.read_bytes()
    assert app.page().count('class="store"') == 1


@pytest.mark.long
def test_consent_given_again_gives_a_new_token_and_keeps_the_webhook(
    browser: Browser, app: SampleApp, platform: FakePlatform, state_file: Path
) -> None:
    install(browser, app, platform, business_id="b-1")
    (old,) = platform.installations
    install(browser, app, platform, business_id="b-1")
    assert old.encode() not in state_file.read_bytes()
    (webhook,) = platform.webhooks.values()
    assert platform.deliver(webhook, "order.created", ORDER).status_code == 200


@pytest.mark.long
def test_restart_keeps_the_installation(
    browser: Browser,
    app: SampleApp,
    platform: FakePlatform,
    start_oauth_app: Callable[..., SampleApp],
) -> None:
    page = install(browser, app, platform)
    app.stop()
    again = start_oauth_app("--port", app.url.rpartition(":")[2])
    assert again.url == app.url
    assert "Black tea" in browser.go(page.url).text
    (webhook,) = platform.webhooks.values()
    assert platform.deliver(webhook, "order.created", ORDER).status_code == 200


def test_token_with_its_webhook_secret_takes_the_app_defined_webhook(
    app: SampleApp, platform: FakePlatform, browser: Browser
) -> None:
    """A test install of this very app, from the portal: the platform sends here under a secret it showed there."""
    platform.oauth.redirect_uri = "https://elsewhere.example.com/"
    code = platform.oauth.install_from_the_marketplace().partition("code=")[2]
    answer = requests.post(
        f"{platform.url}/oauth/token",
        data={"grant_type": "authorization_code", "code": code},
        auth=(
            platform.oauth.client_id,
            platform.oauth.client_secret.replace(":", "%3A").replace("/", "%2F").replace("+", "%2B"),
        ),
        timeout=5,
    ).json()
    token, secret = answer["access_token"], answer["webhookSecret"]
    assert "its webhook secret is needed as well" in app.press("/connect", access_token=token)
    assert "is connected" in app.press("/connect", access_token=token, webhook_secret=secret)
    (webhook,) = platform.webhooks.values()
    assert platform.deliver(webhook, "order.created", ORDER).status_code == 200


@pytest.mark.parametrize("path", ["/install", "/callback?code=x"])
def test_without_client_credentials_there_is_no_install(
    start_app: Callable[..., SampleApp], path: str
) -> None:
    app = start_app()
    assert "/install" not in app.page()
    assert requests.get(app.url + path, timeout=5).status_code == 404


def test_state_stays_with_the_browser(app: SampleApp) -> None:
    cookie = requests.get(f"{app.url}/install", timeout=5, allow_redirects=False).headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Lax"} <= set(cookie.split("; "))
