"""The portal's pages about the test install."""

import json
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business
from common.secrets import digest, standard_webhooks_secret
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App
from marketplace.scopes import SCOPES
from tests import factories
from tests.developers.portal.paths import pages_of
from tests.pages import text_of

TOKEN = re.compile(r"fbat_test_[A-Za-z0-9_-]{20,}")


def install(browser: Client, app: App, form_token: str = "a form") -> Any:
    return browser.post(f"/portal/apps/{app.slug}/test/", {"form_token": form_token})


def test_page_offers_the_install_and_marks_the_sandbox(browser: Client, app: App) -> None:
    page = text_of(browser.get(f"/portal/apps/{app.slug}/test/"))
    assert "Install on sandbox" in page
    assert "Dana&#x27;s sandbox" in page
    assert "sandbox-mark" in page


@pytest.mark.long
def test_install_shows_token_and_secret_once(browser: Client, app: App) -> None:
    response = install(browser, app)
    page = text_of(response)
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    token = TOKEN.search(page)
    stored = Installation.objects.get()
    assert token
    assert digest(token[0]) == stored.token_digest
    assert stored.webhook_secret in page
    standard = standard_webhooks_secret(stored.webhook_secret)
    assert standard not in page  # the documentation tells how to get this spelling
    for path in ["/portal/", *pages_of(app)]:
        later = text_of(browser.get(path))
        assert token[0] not in later
        assert stored.webhook_secret not in later
        assert standard not in later


@pytest.mark.long
def test_install_form_sent_twice_keeps_the_token(browser: Client, app: App) -> None:
    install(browser, app)
    before = Installation.objects.get().token_digest
    again = install(browser, app)
    assert again.status_code == 409
    assert "was shown on" in text_of(again)
    assert not TOKEN.search(text_of(again))
    assert Installation.objects.get().token_digest == before
    assert TOKEN.search(text_of(install(browser, app, "another form")))
    assert Installation.objects.get().token_digest != before


def test_install_gives_requests_that_can_be_pasted(browser: Client, app: App, sandbox: Business) -> None:
    factories.product(sandbox, is_available=False)
    factories.product(sandbox, stock=0)
    product = factories.product(sandbox, stock=3)
    App.objects.update(webhook_url="https://stars.example.com/it's")
    page = unescape(text_of(install(browser, app)))
    assert "curl 'http://testserver/app-api/products?limit=3'" in page
    order = re.search(r"app-api/orders.*?-d '(\{.*? \})'", page)
    assert order
    assert json.loads(order[1])["items"] == [{"productId": str(product.id), "quantity": 1}]
    assert "http://testserver/webhooks" in page
    assert """"https://stars.example.com/it'"'"'s\"""" in page


def test_install_offers_only_what_the_token_may_do(browser: Client, app: App, sandbox: Business) -> None:
    factories.product(sandbox)
    App.objects.update(scopes=["read_pages"])
    page = text_of(install(browser, app))
    assert "/app-api/installation" in page
    for path in ("/app-api/products", "/app-api/orders", "/webhooks"):
        assert f"http://testserver{path}" not in page


def test_install_of_a_suspended_app_is_refused(browser: Client, app: App) -> None:
    App.objects.update(suspended_at=timezone.now())
    assert "Install on sandbox" not in text_of(browser.get(f"/portal/apps/{app.slug}/test/"))
    response = browser.post(f"/portal/apps/{app.slug}/test/", {"form_token": "x"}, follow=True)
    assert "suspended" in text_of(response)
    assert not Installation.objects.exists()


def test_page_of_an_install_shows_its_state(browser: Client, app: App, installation: Any) -> None:
    App.objects.update(scopes=["read_pages"])
    page = text_of(browser.get(f"/portal/apps/{app.slug}/test/"))
    assert f"fbat_test_…{installation.raw_token[-4:]}" in page
    assert "None yet" in page
    assert SCOPES["read_pages"].sentence in page
    assert SCOPES["read_orders"].sentence not in page
    assert str(installation.id) in page
    assert "Uninstall" in page


@pytest.mark.long
@pytest.mark.spec(
    "Contract 2 Developer API", "A converted installation becomes a test install again in one press"
)
def test_converted_install_becomes_a_test_install_again(browser: Client, app: App) -> None:
    App.objects.update(scopes=["read_orders"])
    app.refresh_from_db()
    token = TOKEN.search(text_of(install(browser, app)))
    assert token
    factories.approve(app)
    follow_all()
    App.objects.update(scopes=[*app.scopes, "read_reviews"])
    path = f"/portal/apps/{app.slug}/test/"
    page = text_of(browser.get(path))
    assert "became a production install" in page
    assert f">fbat_test_…{token[0][-4:]}<" in page
    assert 'Calls that need <span class="mono nowrap">read_reviews</span> answer 403' in page
    assert page.count("Make it a test install again</button>") == 1
    fresh = TOKEN.search(text_of(install(browser, app, "another form")))
    assert fresh
    made = Installation.objects.with_app().get()
    assert made.is_test
    assert "read_reviews" in made.effective_scopes
    record = Client(headers={"authorization": f"Bearer {fresh[0]}"}).get("/app-api/installation").json()
    assert "read_reviews" in record["scopes"]
    assert "Make it a test install again" not in text_of(browser.get(path))


def test_uninstall_asks_and_then_ends_the_token(
    browser: Client, app: App, installation: Installation
) -> None:
    path = f"/portal/apps/{app.slug}/test/uninstall/"
    assert "48 hours later" in text_of(browser.get(path))
    assert Installation.objects.active().exists()
    response = browser.post(path, follow=True)
    assert "was uninstalled" in text_of(response)
    assert Installation.objects.get().token_digest is None


def test_uninstall_when_nothing_is_installed_leads_back(browser: Client, app: App) -> None:
    path = f"/portal/apps/{app.slug}/test/uninstall/"
    assert browser.get(path)["Location"] == f"/portal/apps/{app.slug}/test/"
    assert "is not installed" in text_of(browser.post(path, follow=True))


def test_form_without_its_token_is_refused(browser: Client, app: App) -> None:
    assert browser.post(f"/portal/apps/{app.slug}/test/").status_code == 422
    assert not Installation.objects.exists()
