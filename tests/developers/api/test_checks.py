"""`/developer/apps/:appId/checks`: the requests of a check, and what becomes of their responses."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from accounts.services.businesses import OWNER_EMAIL
from common.errors import Conflict
from conformance.enums import Sender
from conformance.models import Run
from conformance.services import runs
from conformance.services.runs import LINGERS, remove_ended
from conformance.tasks import remove_ended_checks
from installations.models import Grant, Installation
from installations.services import authorization
from marketplace.models import App
from stores.models import Order
from tests import factories
from tests.clients import Api, api_of
from tests.installations.oauth_client import SECRET, exchange

CHECK = ("Developer endpoints", "A check runs on a throwaway store, never on the developer's own")


@pytest.fixture
def app(dana: User) -> App:
    """It exchanges codes with a client secret that the tests know."""
    return factories.app(dana, client_secret=SECRET)


@pytest.fixture
def started(api: Api, app: App) -> Any:
    response = api("post", f"/developer/apps/{app.id}/checks", {"url": "http://localhost:3000/"})
    assert response.status_code == 201, response.text
    return response.json()


def answered(check: Any, status: int | None, **more: Any) -> dict[str, Any]:
    each = {"status": status, "durationMs": 3, **more}
    return {
        "step": check["step"],
        "responses": [{"name": request["name"], **each} for request in check["requests"]],
    }


@pytest.mark.spec(*CHECK)
def test_check_begins_with_a_code_on_a_throwaway_store(
    started: Any, app: App, dana: User, sandbox: Business
) -> None:
    (visit,) = started["requests"]
    grant = Grant.objects.get()
    assert visit["url"].startswith(f"http://localhost:3000/callback?code={grant.code}&iss=")
    assert (started["status"], started["url"], visit["method"]) == ("RUNNING", "http://localhost:3000", "GET")
    assert grant.business != sandbox
    assert grant.business.owner.email == OWNER_EMAIL
    assert Order.objects.filter(business=grant.business).exists()
    assert Business.objects.owned_by(dana).get() == sandbox
    assert Business.objects.sandbox_of(dana) == sandbox


@pytest.mark.long
def test_responses_are_judged_and_end_the_check(api: Api, app: App, started: Any) -> None:
    path = f"/developer/apps/{app.id}/checks/{started['id']}"
    ended = api("post", f"{path}/responses", answered(started, None, error="the server can't be reached"))
    record = ended.json()
    assert (ended.status_code, record["status"], record["requests"]) == (200, "FAILED", [])
    by_rule = {each["rule"]: each for each in record["results"]}
    assert by_rule["IN001"]["outcome"] == "FAIL"
    assert "the server can't be reached" in by_rule["IN001"]["details"][0]
    assert by_rule["IN001"]["documentation"].endswith("/docs/guides/check-rules/#in001")
    assert {each["outcome"] for rule, each in by_rule.items() if rule != "IN001"} == {"SKIPPED"}
    assert api("get", path).json() == record
    again = api("post", f"{path}/responses", answered(started, 200))
    assert (again.status_code, again.json()["message"]) == (409, "This check has ended.")


@pytest.mark.long
def test_refused_redirect_uri_is_named_by_the_check_whose_code_it_came_with(
    api: Api, app: App, started: Any
) -> None:
    path = f"/developer/apps/{app.id}/checks"
    first, second = started, api("post", path, {}).json()
    code = Grant.objects.order_by("pk")[0].code
    assert exchange(app, code, redirect_uri="https://else\0where.example/").status_code == 400
    ended = [
        api("post", f"{path}/{check['id']}/responses", answered(check, 200)) for check in (first, second)
    ]
    said = [each.json()["results"][0]["details"][0] for each in ended]
    assert "with the redirect_uri https://elsewhere.example/, which was refused" in said[0]
    assert said[1].startswith("The app hasn't exchanged the code at /oauth/token.")


def led_to_the_consent_page(api: Api, app: App, check: Any) -> Any:
    """The app's server begins an authorization of its own."""
    asks = f"http://testserver/oauth/authorize?response_type=code&client_id={app.client_id}&state=x"
    body = answered(check, 302, headers={"location": asks})
    return api("post", f"/developer/apps/{app.id}/checks/{check['id']}/responses", body)


def test_code_after_the_consent_page_installs_on_the_throwaway_store_too(
    api: Api, app: App, started: Any, sandbox: Business
) -> None:
    factories.installation(app, sandbox)
    assert led_to_the_consent_page(api, app, started).status_code == 200
    first, second = Grant.objects.order_by("pk")
    assert exchange(app, second.code, redirect_uri=second.redirect_uri).status_code == 200
    assert Installation.objects.get(business=first.business).is_review


def test_app_that_is_suspended_during_its_check_gets_no_further_code(
    api: Api, app: App, started: Any
) -> None:
    App.objects.update(suspended_at=timezone.now())
    assert led_to_the_consent_page(api, app, started).status_code == 409
    assert Grant.objects.count() == 1


def test_check_of_an_approved_version_installs_with_its_scopes(app: App) -> None:
    version = factories.approve(app, scopes=["read_products", "read_orders"])
    App.objects.update(scopes=["read_products"])
    app.refresh_from_db()
    runs.start(app=app, version=version, sender=Sender.PLATFORM)
    grant = Grant.objects.get()
    response = exchange(app, grant.code, redirect_uri=grant.redirect_uri)
    assert response.json()["scope"] == "read_products read_orders"


def test_only_throwaway_stores_agree_by_themselves(app: App, sandbox: Business) -> None:
    with pytest.raises(Conflict, match="Only throwaway stores"):
        authorization.agree(app=app, store=sandbox, redirect_uri=app.redirect_url)


def test_responses_to_another_step_are_refused(api: Api, app: App, started: Any) -> None:
    path = f"/developer/apps/{app.id}/checks/{started['id']}/responses"
    late = api("post", path, answered(started, 200) | {"step": 7})
    assert (late.status_code, late.json()["message"]) == (409, "This check is at step 1, not at step 7.")
    for body in (
        {},
        {"step": 1},
        {"step": 1, "responses": [{"name": "visit"}]},
        {"step": "1", "responses": []},
    ):
        assert api("post", path, body).status_code == 400


@pytest.mark.parametrize(
    "url", ["ftp://localhost", "localhost:3000", "http://localhost/app", "http://a@b.example", "http://b.example?x", "http://ä.example", "http://h:99999", 5]
)  # fmt: skip
def test_address_must_be_an_origin(api: Api, app: App, url: object) -> None:
    response = api("post", f"/developer/apps/{app.id}/checks", {"url": url})
    assert (response.status_code, response.json()["details"][0]["field"]) == (400, "url")
    assert not Run.objects.exists()


def test_check_without_an_address_uses_the_registered_urls(api: Api, app: App) -> None:
    check = api("post", f"/developer/apps/{app.id}/checks", {}).json()
    assert check["requests"][0]["url"].startswith(f"{app.redirect_url}?code=")


def test_check_of_another_app_is_not_found(started: Any, sam: User) -> None:
    own = factories.app(sam)
    assert api_of(sam)("get", f"/developer/apps/{own.id}/checks/{started['id']}").status_code == 404


@pytest.mark.long
def test_number_of_checks_is_limited(
    api: Api, app: App, monkeypatch: pytest.MonkeyPatch, stopped_clock: None
) -> None:
    monkeypatch.setattr(runs, "MOST_AT_A_TIME", 2)
    monkeypatch.setattr(runs, "PER_MINUTE", 3)
    path = f"/developer/apps/{app.id}/checks"
    assert [api("post", path, {}).status_code for _ in range(3)] == [201, 201, 409]
    Run.objects.update(status="FAILED")
    refused = [api("post", path, {}) for _ in range(2)]
    assert [each.status_code for each in refused] == [201, 429]
    assert int(refused[1]["Retry-After"]) > 0


def test_suspended_app_is_not_checked(api: Api, app: App) -> None:
    App.objects.update(suspended_at=timezone.now())
    assert api("post", f"/developer/apps/{app.id}/checks", {}).status_code == 409
    assert not Business.objects.filter(expires_at__isnull=False).exists()


# Hidden while it lasts, and deleted afterwards


def test_store_is_in_no_list_of_the_administration(started: Any) -> None:
    store = Business.objects.get(expires_at__isnull=False)
    admin = Client()
    admin.force_login(factories.reviewer("root@example.com", is_superuser=True))
    assert store.name not in admin.get("/admin/accounts/business/").text
    assert admin.get(f"/admin/accounts/business/{store.pk}/change/").status_code == 302
    assert OWNER_EMAIL not in admin.get("/admin/accounts/user/").text


@pytest.mark.long
def test_store_is_deleted_soon_after_the_check(api: Api, app: App, started: Any, shop: Business) -> None:
    run = Run.objects.get()
    assert run.store is not None
    remove_ended_checks()
    assert Business.objects.filter(pk=run.store_id).exists()
    api("post", f"/developer/apps/{app.id}/checks/{run.pk}/responses", answered(started, 500))
    factories.installation(app, run.store, is_review=True)
    assert remove_ended() == 0
    assert remove_ended(now=timezone.now() + LINGERS) == 1
    assert not Business.objects.filter(expires_at__isnull=False).exists()
    assert not Installation.objects.exists()
    assert not Order.objects.exists()
    assert not Grant.objects.exists()
    assert Business.objects.filter(pk=shop.pk).exists()
    result = api("get", f"/developer/apps/{app.id}/checks/{run.pk}").json()
    assert (result["status"], len(result["results"])) == ("FAILED", 34)


def test_check_whose_command_line_is_gone_expires(api: Api, app: App, started: Any) -> None:
    now = timezone.now()
    assert remove_ended(now=now + runs.LONGEST) == 0
    assert remove_ended(now=now + runs.LONGEST + runs.GRACE + timedelta(seconds=1)) == 1
    path = f"/developer/apps/{app.id}/checks/{started['id']}"
    assert api("get", path).json()["status"] == "EXPIRED"
    assert api("post", f"{path}/responses", answered(started, 200)).status_code == 409
