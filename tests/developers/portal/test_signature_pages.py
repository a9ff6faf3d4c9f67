"""The portal's signature checker, in a browser without JavaScript."""

import logging
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from common.secrets import new_webhook_secret
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.deliveries import TIMEOUT, UNAUTHORIZED, delivery
from tests.pages import signed_in, text_of
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.messages.message import signature_headers
from webhooks.models import Webhook

SECRET = new_webhook_secret(test=False)
BODY = '{"event":"order.created"}'


@pytest.fixture
def webhook(installation: Installation) -> Webhook:
    return helpers.webhook(installation, "https://api.example.com/in", ["order.created"])


def at(app: App) -> str:
    return f"/portal/apps/{app.slug}/signatures/"


def pasted(**changes: str) -> dict[str, str]:
    headers = signature_headers(SECRET, "an-id", int(timezone.now().timestamp()), BODY.encode())
    lines = "\r\n".join(f"{name}: {value}" for name, value in headers.items())
    return {"headers": lines, "body": BODY, "secret": SECRET, "computed": "", **changes}


def test_page_is_only_for_the_apps_developer(sam: User, mira: User, app: App) -> None:
    assert signed_in(sam).get(at(app)).status_code == 404
    assert signed_in(mira).post(at(app), pasted()).status_code == 403


def test_genuine_request_shows_the_signed_text(browser: Client, app: App) -> None:
    page = text_of(browser.post(at(app), pasted()))
    assert "Genuine" in page
    assert page.count("Matches") == 2
    assert ".{&quot;event&quot;:&quot;order.created&quot;}" in page


def test_wrong_secret_and_mistakes_are_explained(browser: Client, app: App) -> None:
    other = new_webhook_secret(test=False)
    assert "The signature does not match" in text_of(browser.post(at(app), pasted(secret=other)))
    bare = SECRET.removeprefix("whsec_")
    page = text_of(browser.post(at(app), pasted(secret=f"whsec_test_{bare}")))
    assert "with the prefix whsec_," in page


def test_pasted_values_are_stored_nowhere(
    browser: Client, app: App, caplog: Any, django_assert_max_num_queries: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    with django_assert_max_num_queries(12) as queries:
        response = browser.post(at(app), pasted())
    assert "no-store" in response["Cache-Control"]
    assert not [query for query in queries if query["sql"].startswith(("INSERT", "UPDATE"))]
    assert SECRET not in caplog.text
    assert SECRET not in text_of(browser.get(at(app)))


@pytest.mark.parametrize("missing", ["headers", "body", "secret"])
def test_missing_field_shows_an_error_and_keeps_the_rest(browser: Client, app: App, missing: str) -> None:
    response = browser.post(at(app), pasted(**{missing: ""}))
    page = text_of(response)
    assert response.status_code == 422
    assert "There is a problem" in page
    assert "no-store" in response["Cache-Control"]
    assert missing == "secret" or SECRET in page


def test_body_that_is_too_long_is_refused(browser: Client, app: App) -> None:
    response = browser.post(at(app), pasted(body="x" * (256 * 1024 + 1)))
    assert response.status_code == 422
    assert "at most 256 KiB" in text_of(response)


def test_headers_without_a_timestamp_are_reported(browser: Client, app: App) -> None:
    page = text_of(browser.post(at(app), pasted(headers="X-Webhook-Signature: sha256=ab")))
    assert "X-Webhook-Timestamp is missing" in page


@pytest.mark.long
def test_delivery_fills_in_the_form_and_its_secret_stays_hidden(
    browser: Client, app: App, webhook: Webhook
) -> None:
    made = delivery(webhook, DeliveryStatus.RETRYING, UNAUTHORIZED, TIMEOUT)
    address = f"{at(app)}?delivery={made.pk}"
    newest = browser.get(address).context["form"].initial
    first = browser.get(f"{address}&attempt=1").context["form"].initial
    assert newest["body"] == first["body"]
    assert newest["headers"] != first["headers"]
    for filled in (newest, first):
        response = browser.post(address, {**filled, "secret": "", "computed": ""})
        page = text_of(response)
        assert "Genuine" in page
        assert webhook.secret not in page


def test_secret_of_a_production_webhook_is_not_used(browser: Client, app: App, shop: Business) -> None:
    live = helpers.webhook(factories.installation(app, shop), "https://api.example.com/", ["order.created"])
    made = delivery(live, DeliveryStatus.RETRYING, UNAUTHORIZED)
    address = f"{at(app)}?delivery={made.pk}"
    filled = browser.get(address).context["form"].initial
    response = browser.post(address, {**filled, "secret": "", "computed": ""})
    assert response.status_code == 422
    assert "Paste the secret" in text_of(response)
    assert "Genuine" in text_of(browser.post(address, {**filled, "secret": live.secret, "computed": ""}))


def test_delivery_of_another_app_fills_in_nothing(browser: Client, app: App, sam: User) -> None:
    installed = factories.installation(factories.app(sam), Business.objects.sandbox_of(sam))
    made = delivery(helpers.webhook(installed, "https://sam.example.com/", ["order.created"]))
    assert browser.get(f"{at(app)}?delivery={made.pk}").status_code == 404
    assert browser.get(f"{at(app)}?delivery=x").status_code == 200
