"""`/developer/apps/:appId/test-…`, as the specification's "Developer endpoints" lists them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts.models import Business, User
from common.secrets import digest
from installations.models import Installation
from marketplace.models import App
from marketplace.scopes import SCOPES
from tests import factories
from tests.clients import Api, api_of

NOW = datetime(2026, 11, 20, 15, 4, 5, 123_456, tzinfo=UTC)


@pytest.mark.spec(
    "Developer endpoints",
    "test-install returns installationId, accessToken, webhookSecret, businessId, isTestInstall (true)",
)
def test_install_answers_the_five_fields(api: Api, app: App, sandbox: Business) -> None:
    response = api("post", f"/developer/apps/{app.id}/test-install")
    assert (response.status_code, response["Cache-Control"]) == (201, "no-store")
    stored = Installation.objects.get()
    record = response.json()
    assert stored.token_digest == digest(record.pop("accessToken"))
    assert record == {
        "installationId": str(stored.id),
        "webhookSecret": stored.webhook_secret,
        "businessId": str(sandbox.id),
        "isTestInstall": True,
    }


def test_install_again_gives_a_new_token_for_the_same_installation(api: Api, app: App) -> None:
    first = api("post", f"/developer/apps/{app.id}/test-install").json()
    second = api("post", f"/developer/apps/{app.id}/test-install").json()
    assert second["accessToken"] != first["accessToken"]
    assert second | {"accessToken": ""} == first | {"accessToken": ""}


def test_install_of_an_app_in_review_works(api: Api, app: App) -> None:
    App.objects.update(status="PENDING_REVIEW")
    assert api("post", f"/developer/apps/{app.id}/test-install").status_code == 201
    assert Installation.objects.get(app=app).is_test
    app.refresh_from_db()
    assert app.status == "PENDING_REVIEW"


def test_status_before_an_install(api: Api, app: App, shop: Business) -> None:
    factories.installation(app, shop)
    assert api("get", f"/developer/apps/{app.id}/test-status").json() == {"installed": False}


def test_status_of_an_install(api: Api, app: App, installation: Installation) -> None:
    Installation.objects.update(installed_at=NOW)
    expected: dict[str, Any] = {
        "installed": True,
        "installationId": str(installation.id),
        "businessId": str(installation.business_id),
        "isTestInstall": True,
        "scopes": list(SCOPES),
        "needsReConsent": False,
        "installedAt": "2026-11-20T15:04:05.123Z",
        "lastUsedAt": None,
    }
    response = api("get", f"/developer/apps/{app.id}/test-status")
    assert response.json() == expected
    assert list(response.json()) == list(expected)
    Installation.objects.update(last_used_at=NOW, is_test=False, needs_reconsent=True)
    record = api("get", f"/developer/apps/{app.id}/test-status").json()
    assert (record["isTestInstall"], record["needsReConsent"]) == (False, True)
    assert record["lastUsedAt"] == "2026-11-20T15:04:05.123Z"


@pytest.mark.spec(
    "Contract 2 Developer API", "test-uninstall: 200 installationId, uninstalledAt, dataErasureAt"
)
def test_uninstall_says_when_data_is_erased(dana: User, app: App, installation: Installation) -> None:
    with time_machine.travel(NOW, tick=False):
        api = api_of(dana)
        response = api("post", f"/developer/apps/{app.id}/test-uninstall")
        assert response.status_code == 200
        assert response.json() == {
            "installationId": str(installation.id),
            "uninstalledAt": "2026-11-20T15:04:05.123Z",
            "dataErasureAt": "2026-11-22T15:04:05.123Z",
        }
        assert api("get", f"/developer/apps/{app.id}/test-status").json() == {"installed": False}
    assert Installation.objects.get().data_erasure_at == NOW + timedelta(hours=48)


@pytest.mark.spec("Developer endpoints", "test-uninstall when not installed is 409")
def test_uninstall_when_not_installed_is_409(api: Api, app: App) -> None:
    response = api("post", f"/developer/apps/{app.id}/test-uninstall")
    assert (response.status_code, response.json()["error"]) == (409, "Conflict")


def test_install_of_an_app_stays_on_the_own_sandbox(api: Api, app: App, dana: User, sam: User) -> None:
    business_id = api("post", f"/developer/apps/{app.id}/test-install").json()["businessId"]
    assert business_id == str(Business.objects.sandbox_of(dana).id)
    assert business_id != str(Business.objects.sandbox_of(sam).id)
