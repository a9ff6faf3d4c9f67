"""Creating an app with nothing but a name, or from an example; and the Redirect URL of ours."""

import re
import runpy
import time
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from common.errors import Conflict
from developers.portal.examples import EXAMPLES
from extensions.queries import manifest_document
from extensions.services.manifests import check_manifest
from extensions.submission import missing
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.pages import text_of
from webhooks.messages.message import own_signature_headers
from webhooks.models import Webhook
from webhooks.services import inboxes

LOCAL = "http://127.0.0.1:8000"


@pytest.fixture(autouse=True)
def _on_this_machine(settings: Any) -> None:
    """As in the demo: URLs of this machine are accepted."""
    settings.DEBUG, settings.BASE_URL, settings.ALLOW_LOCAL_DESTINATIONS = True, LOCAL, True


def create(browser: Client, **fields: Any) -> Any:
    return browser.post("/portal/create/", {"form_token": "a form", "name": "Loyalty Stars"} | fields)


def test_name_is_enough_for_a_token_a_request_and_an_inbox(browser: Client) -> None:
    response = create(browser)
    page = text_of(response)
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    app, installation = App.objects.get(), Installation.objects.get()
    assert (app.slug, app.category) == ("loyalty-stars", "other")
    assert app.redirect_url == f"{LOCAL}/portal/apps/loyalty-stars/redirect/"
    for secret in (r"fbcs_[\w-]{20,}", r"fbat_test_[\w-]{20,}", r"whsec_test_[\w+/=]{20,}"):
        assert re.search(secret, page)
    for line in (f"REDIRECT_URL={app.redirect_url}", f"BUSINESS_ID={installation.business_id}"):
        assert line in page  # of the file .env, as the command line writes it
    assert page.index("CLIENT_SECRET=") < page.index("Each by itself") < page.index('id="client-secret"')
    assert "Standard Webhooks" not in page  # the documentation has the other spelling of the secret
    assert f"{LOCAL}/app-api/products?limit=3" in page
    webhook = Webhook.objects.get()
    assert webhook.installation == installation
    assert webhook.url == inboxes.url_of(app.inbox)
    assert set(inboxes.wanted_events(installation)) == set(webhook.events) >= {"order.created"}


def test_slug_that_only_followed_the_name_follows_it_to_a_free_one(browser: Client, sam: User) -> None:
    factories.app(sam, slug="loyalty-stars")
    create(browser, slug="loyalty-stars")
    assert App.objects.filter(slug="loyalty-stars-2").exists()


def test_name_without_latin_letters_gets_a_slug(browser: Client) -> None:
    create(browser, name="Звёзды")
    assert App.objects.get().slug == "app"


@pytest.mark.parametrize("key", EXAMPLES)
def test_example_fills_scopes_and_manifest_and_shows_its_program(browser: Client, key: str) -> None:
    example = EXAMPLES[key]
    page = text_of(create(browser, example=key))
    app = App.objects.get()
    assert set(app.scopes) == set(example.scopes)
    assert manifest_document(app) == (example.manifest_for("http://localhost:8787") or {})
    assert example.file_name in page
    assert "HTTPServer" in page


@pytest.mark.parametrize("key", EXAMPLES)
def test_manifest_of_an_example_passes_the_rules_of_production(key: str, settings: Any) -> None:
    settings.DEBUG = False
    if document := EXAMPLES[key].manifest_for("https://your-server.example"):
        check_manifest(document)


def program_of(key: str) -> dict[str, Any]:
    path = Path(__file__).resolve().parents[3] / "developers" / "portal" / "examples" / f"{key}.py"
    return runpy.run_path(str(path))


@pytest.mark.parametrize("key", EXAMPLES)
def test_program_of_an_example_runs(key: str) -> None:
    assert "Handler" in program_of(key)


@pytest.mark.parametrize("key", ["checkout_hook", "webhook_receiver"])
def test_program_of_an_example_accepts_signatures_of_five_minutes(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", "whsec_test_x")
    is_signed = program_of(key)["is_signed"]
    now = int(time.time())
    for age, accepted in ((0, True), (290, True), (310, False), (-310, False)):
        headers = own_signature_headers("whsec_test_x", now - age, b"{}")
        signature = headers["X-Webhook-Signature"]
        assert is_signed(headers["X-Webhook-Timestamp"], signature, b"{}") is accepted, age
        assert not is_signed(headers["X-Webhook-Timestamp"], signature, b"[]")


def test_our_redirect_url_shows_what_came_back(browser: Client) -> None:
    create(browser)
    app = App.objects.get()
    path = "/portal/apps/loyalty-stars/redirect/"
    page = text_of(browser.get(path, {"code": "c0de", "state": "<xyz>", "iss": LOCAL}))
    assert "c0de" in page
    assert "&lt;xyz&gt;" in page
    assert f"{LOCAL}/oauth/token" in page
    assert app.client_id in page
    refused = text_of(browser.get(path, {"error": "access_denied", "state": "xyz"}))
    assert "access_denied" in refused
    assert "/oauth/token" not in refused
    assert "Open the consent page" in text_of(browser.get(path))


@pytest.mark.spec("Contract 2 Developer API", "An app is submitted with URLs of its own server")
def test_our_urls_cannot_be_submitted(browser: Client) -> None:
    create(browser)
    problems = missing(App.objects.get())
    assert [problem["field"] for problem in problems] == ["redirect_url"]
    assert "of your own server" in problems[0]["message"]


def test_without_usable_urls_of_ours_the_form_asks_for_one(browser: Client, settings: Any) -> None:
    """Like a demo without DEBUG: its http address is refused like anybody's."""
    settings.DEBUG = False
    response = create(browser)
    assert response.status_code == 422
    assert "Enter a URL that starts with https://" in text_of(response)
    settings.ALLOW_LOCAL_DESTINATIONS = False
    response = create(browser, redirect_url="https://stars.example.com/callback")
    assert response.status_code == 200
    assert "Enter a URL that starts with https://" in text_of(response)  # why there is no inbox
    assert not Webhook.objects.exists()
    assert Installation.objects.active().exists()


def test_inbox_is_for_sandboxes(mira: User, installation: Installation) -> None:
    shop = factories.business(mira)
    other = factories.installation(installation.app, shop)
    with pytest.raises(Conflict, match="sandbox store only"):
        inboxes.open_inbox(installation=other)
