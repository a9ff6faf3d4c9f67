"""The API explorer, in a browser without JavaScript."""

import html
import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import Business, User
from activity import log
from activity.models import ApiCall
from appapi import middleware
from developers.docs import reference
from installations import services
from installations.models import Installation
from marketplace.models import App
from stores.models import Order
from tests import factories
from tests.pages import signed_in, words_of

LIST = "/docs/reference/products/listProducts/run/"
ORDER = "/docs/reference/orders/createOrder/run/"
NOT_RUN = ("Sign in to run it", "No app on your sandbox store", "For developers")


@pytest.fixture
def browser(dana: User, installation: Installation, sandbox: Business) -> Client:
    factories.product(sandbox)
    return signed_in(dana)


def filled(page: Any) -> dict[str, str]:
    """The fields of the form as the page prefills them."""
    text = (
        page.content.decode()
        .partition('<form method="post" action="#answer" class="form card"')[2]
        .partition("</form>")[0]
    )
    found = dict(re.findall(r'<input type="(?:text|hidden)" name="([^"]+)" value="([^"]*)"', text))
    found |= dict(re.findall(r'<textarea name="([^"]+)"[^>]*>\s*(.*?)</textarea>', text, re.DOTALL))
    found["app"] = re.findall(r'<option value="([^"]+)" selected', text)[0]
    return {name: html.unescape(value) for name, value in found.items()}


@pytest.mark.parametrize(
    "endpoint", [each for each in reference.endpoints() if each.runnable], ids=lambda each: each.id
)
def test_every_call_runs_as_it_is_prefilled(
    endpoint: reference.ApiOperation, browser: Client, installation: Installation, sandbox: Business
) -> None:
    group = next(each for each in reference.groups() if endpoint in each.endpoints)
    path = f"/docs/reference/{group.slug}/{endpoint.id}/run/"
    page = browser.post(path, filled(browser.get(path)))
    assert page.status_code == 200
    status = int(re.findall(r'id="answer".*?(\d{3}) ', page.content.decode(), re.DOTALL)[0])
    # The sandbox has no deliveries and exports yet, and the sample's payment is another app's.
    assert status < 500
    if "{" not in endpoint.path:
        assert status in (200, 201, 202), words_of(page)


def test_answer_has_status_headers_budget_and_leads_to_the_request(
    browser: Client, app: App, installation: Installation
) -> None:
    page = browser.post(LIST, {"app": app.slug, "query.limit": "1"})
    text = words_of(page)
    assert "200 OK" in text
    assert f"{middleware.REQUESTS_A_MINUTE - 1} of {middleware.REQUESTS_A_MINUTE} requests left" in text
    assert '"limit" : 1' in text
    assert "X-RateLimit-Reset" in text
    assert "no-store" in page["Cache-Control"]
    request_id = re.findall(rf"/portal/apps/{app.slug}/requests/([0-9a-f-]+)/", page.content.decode())[0]
    assert page["X-Request-Id"] != request_id
    log.flush()
    call = ApiCall.objects.get()
    assert (str(call.pk), call.installation_id, call.route) == (
        request_id,
        installation.pk,
        "/app-api/products",
    )
    assert browser.get(f"/portal/apps/{app.slug}/requests/{request_id}/").status_code == 200


def test_writing_call_changes_the_sandbox_store(browser: Client, sandbox: Business) -> None:
    before = Order.objects.filter(business=sandbox).count()
    fields = filled(browser.get(ORDER))
    page = browser.post(ORDER, fields)
    assert "201 Created" in words_of(page)
    assert Order.objects.filter(business=sandbox).count() == before + 1
    repeated = words_of(browser.post(ORDER, fields))
    assert "Idempotent-Replayed" in repeated
    kept = browser.post(ORDER, fields | {"body": '{"items": '})
    assert "400 Bad Request" in words_of(kept)
    assert "{&quot;items&quot;: </textarea>" in kept.content.decode()  # nothing typed is lost


def test_missing_path_parameter_is_named_and_nothing_is_called(browser: Client, app: App) -> None:
    page = browser.post("/docs/reference/products/getProduct/run/", {"app": app.slug, "path.productId": ""})
    assert page.status_code == 422
    assert "productId" in words_of(page)
    log.flush()
    assert not ApiCall.objects.exists()


def test_path_parameter_stays_one_segment(browser: Client, app: App) -> None:
    values = {"app": app.slug, "path.productId": "../orders?limit=1#/ü"}
    text = words_of(browser.post("/docs/reference/products/getProduct/run/", values))
    assert "404 Not Found" in text
    assert "orderNumber" not in text


def test_rate_limit_of_the_api_holds(
    browser: Client, app: App, monkeypatch: pytest.MonkeyPatch, stopped_clock: None
) -> None:
    monkeypatch.setattr(middleware, "REQUESTS_A_MINUTE", 1)
    browser.post(LIST, {"app": app.slug})
    text = words_of(browser.post(LIST, {"app": app.slug}))
    assert "429 Too Many Requests" in text
    assert "0 of 1 requests left" in text


def test_strangers_and_other_stores_are_out_of_reach(
    browser: Client, app: App, sam: User, mira: User, shop: Business, dana: User
) -> None:
    anonymous = Client()
    assert "Sign in to run it" in words_of(anonymous.get(LIST))
    assert "/login/" in anonymous.post(LIST, {"app": app.slug})["Location"]
    assert signed_in(sam).post(LIST, {"app": app.slug}).status_code == 404
    assert "No app on your sandbox store" in words_of(signed_in(sam).get(LIST))
    assert signed_in(mira).post(LIST, {"app": app.slug}).status_code == 403
    assert "For developers" in words_of(signed_in(mira).get(LIST))
    other = factories.app(dana, name="Only in production", slug="only-in-production")
    factories.approve(other)
    factories.installation(other, shop)
    assert browser.post(LIST, {"app": other.slug}).status_code == 404
    assert Client(enforce_csrf_checks=True).post(LIST, {"app": app.slug}).status_code == 403
    assert browser.post("/docs/reference/accounts/login/run/", {"app": app.slug}).status_code == 404
    log.flush()
    assert not ApiCall.objects.exists()


def test_token_is_neither_needed_nor_shown_and_header_gives_nothing(
    browser: Client, app: App, dana: User, installation: Installation
) -> None:
    token = services.test_install(app=app, developer=dana).access_token
    page = browser.post(LIST, {"app": app.slug})
    assert "200 OK" in words_of(page)
    assert "fbat_" not in page.content.decode()
    still = Client().get("/app-api/installation", headers={"Authorization": f"Bearer {token}"})
    assert still.status_code == 200
    installation.refresh_from_db()
    forged = Client().get("/app-api/products", headers={"Installations.Holder": installation.token_digest})
    assert forged.status_code == 401


def test_ended_installs_are_not_offered(browser: Client, app: App, dana: User) -> None:
    services.test_uninstall(app=app, developer=dana)
    assert "No app on your sandbox store" in words_of(browser.get(LIST))
    assert browser.post(LIST, {"app": app.slug}).status_code == 404
