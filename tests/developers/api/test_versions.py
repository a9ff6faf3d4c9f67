"""`reach` of a saved manifest, submitting what waits, and `/developer/apps/:appId/versions` (contract, section 2, "Reach")."""

from typing import Any

import pytest
from django.test import TestCase

from accounts.models import Business
from extensions.enums import ExtensionType
from extensions.models import ManifestSave
from extensions.queries import extensions_on
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from installations.services.approval import follow_all
from marketplace.enums import AppStatus
from marketplace.models import App, AppVersion, ReviewEntry
from marketplace.services import reviews
from marketplace.services.apps import update_app
from tests import factories
from tests.clients import Api
from tests.extensions.manifests import Document, block, hook, script
from tests.merchants.pages import installed

REACH = "Contract 2 Reach"


def path(app: App, call: str) -> str:
    return f"/developer/apps/{app.pk}/{call}"


def put(api: Api, app: App, document: Document) -> dict[str, Any]:
    response = api("put", path(app, "manifest"), document)
    assert response.status_code == 200
    return dict(response.json())


def keys(saved: dict[str, Any]) -> dict[str, list[str]]:
    return {name: [each["key"] for each in found] for name, found in saved["reach"].items()}


def approve(app: App) -> App:
    submission = app.submissions.filter(status="PENDING_REVIEW").first() or factories.submit(app)
    reviews.approve(submission=submission, reviewer=factories.reviewer())
    follow_all()
    return App.objects.get(pk=app.pk)


def running(business: Business) -> list[str]:
    return [each.definition.key for kind in ExtensionType for each in extensions_on(business, kind)]


@pytest.mark.spec(REACH, "PUT manifest answers what is live and what waits for the next version")
def test_reach_of_a_save(api: Api, stars: App) -> None:
    saved = put(api, stars, {"blocks": [block()], "hooks": [hook()]})
    assert keys(saved) == {"live": ["stars", "order.calculate_discounts"], "withNextVersion": []}
    App.objects.update(webhook_url="https://stars.example.com/hooks")
    approve(App.objects.get(pk=stars.pk))
    saved = put(api, stars, {"blocks": [block(name="New")], "hooks": [hook()], "embeds": [script()]})
    assert keys(saved) == {"live": ["stars", "order.calculate_discounts"], "withNextVersion": ["counter"]}
    assert saved["reach"]["withNextVersion"] == saved["changes"]["created"]


@pytest.mark.long
@pytest.mark.spec(REACH, "An approved app may be submitted while a part of its manifest waits")
def test_what_waits_can_be_submitted(api: Api, stars: App) -> None:
    stars = approve(stars)
    assert api("post", path(stars, "submit"), {}).status_code == 409
    put(api, stars, {"blocks": [], "embeds": [script()]})
    assert api("post", path(stars, "submit"), {}).status_code == 201
    assert api("put", path(stars, "manifest"), {}).status_code == 409, "in review"
    stars = approve(App.objects.get(pk=stars.pk))
    assert keys(put(api, stars, {"embeds": [script()]}))["withNextVersion"] == []
    assert api("post", path(stars, "submit"), {}).status_code == 409


@pytest.fixture
def twice(stars: App, api: Api) -> App:
    """Version 1 with a block and a script, version 2 with the block alone, under another name."""
    put(api, stars, {"blocks": [block()]})
    stars = approve(stars)
    put(api, stars, {"blocks": [block(name="Ratings")]})
    update_app(app=stars, changes={"name": "Loyalty Suns", "version": "2.0.0"})
    return approve(App.objects.get(pk=stars.pk))


@pytest.mark.long
@pytest.mark.spec(REACH, "Approved versions are listed, newest first")
def test_versions_are_listed(api: Api, twice: App, sams_api: Api) -> None:
    page = api("get", path(twice, "versions")).json()
    assert [(each["number"], each["version"], each["isCurrent"]) for each in page["data"]] == [
        (2, "2.0.0", True),
        (1, "1.4.0", False),
    ]
    assert (page["total"], page["page"]) == (2, 1)
    assert sams_api("get", path(twice, "versions")).status_code == 404
    assert sams_api("post", path(twice, "versions/1/restore")).status_code == 404


@pytest.mark.long
@pytest.mark.spec(REACH, "An earlier approved version can be put back with its manifest")
def test_a_version_is_put_back(api: Api, twice: App, shop: Business) -> None:
    install = installed(twice, shop)
    put(api, twice, {"blocks": [block(name="Draft")], "hooks": [hook()]})
    AppVersion.objects.filter(app=twice, number=1).update(
        long_description="As it was.", support_url="mailto:help@stars.example.com"
    )
    restored = api("post", path(twice, "versions/1/restore"))

    assert restored.status_code == 200
    body = restored.json()
    assert (body["name"], body["version"], body["status"]) == ("Loyalty Stars", "1.4.0", AppStatus.APPROVED)
    assert body["manifest"] == {"blocks": [block()]}
    assert (body["longDescription"], body["supportUrl"]) == ("As it was.", "mailto:help@stars.example.com")
    ((shown),) = extensions_on(shop, ExtensionType.BLOCK)
    assert shown.definition.content["name"] == "Star rating"
    current = [each["isCurrent"] for each in api("get", path(twice, "versions")).json()["data"]]
    assert current == [False, True]
    assert ManifestSave.objects.filter(app=twice).count() == 4, "the draft stays in the history"
    assert ReviewEntry.objects.filter(app=twice, kind="RESTORED").exists()
    follow_all()
    install.refresh_from_db()
    assert install.agreed_version_id == App.objects.get().approved_version_id


@pytest.mark.long
@pytest.mark.spec(REACH, "A version that would widen can't be put back")
def test_a_version_that_widens_is_409(api: Api, stars: App) -> None:
    put(api, stars, {"embeds": [script()]})
    stars = approve(stars)
    put(api, stars, {})
    stars = approve(App.objects.get(pk=stars.pk))
    response = api("post", path(stars, "versions/1/restore"))
    assert (response.status_code, "counter" in response.json()["message"]) == (409, True)

    update_app(app=stars, changes={"scopes": ["read_products"]})
    stars = approve(App.objects.get(pk=stars.pk))
    response = api("post", path(stars, "versions/2/restore"))
    assert (response.status_code, "read_orders" in response.json()["message"]) == (409, True)


@pytest.mark.long
def test_no_version_is_put_back_in_review_or_suspended(api: Api, twice: App) -> None:
    factories.submit(twice)
    assert api("post", path(twice, "versions/1/restore")).status_code == 409
    App.objects.update(status="APPROVED", suspended_at=twice.created_at)
    assert api("post", path(twice, "versions/1/restore")).status_code == 409
    for unknown in ("0", "3", "x", "9999999999", "%00"):
        assert api("post", path(twice, f"versions/{unknown}/restore")).status_code == 404


@pytest.mark.long
@pytest.mark.usefixtures("tasks_run_at_once")
def test_scopes_that_a_restored_version_lacks_do_not_come_back(api: Api, stars: App, shop: Business) -> None:
    stars = approve(stars)
    update_app(app=stars, changes={"scopes": [*stars.scopes, "read_pages"]})
    stars = approve(App.objects.get(pk=stars.pk))
    install = installed(stars, shop)
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert api("post", path(stars, "versions/1/restore")).status_code == 200
    assert "read_pages" not in Installation.objects.get(pk=install.pk).granted_scopes


@pytest.mark.long
@pytest.mark.parametrize("lacks", [True, False])
def test_history_of_a_test_install_says_that_a_restored_version_has_other_scopes(
    api: Api, stars: App, sandbox: Business, lacks: bool
) -> None:
    stars = approve(stars)
    more = [*stars.scopes, "read_pages"] if lacks else stars.scopes
    update_app(app=stars, changes={"scopes": more, "name": "Loyalty Suns"})
    stars = approve(App.objects.get(pk=stars.pk))
    test = factories.installation(stars, sandbox)
    assert api("post", path(stars, "versions/1/restore")).status_code == 200
    followed = HistoryEntry.objects.filter(installation=test, kind=HistoryKind.SCOPES_FOLLOWED)
    assert followed.exists() == lacks
