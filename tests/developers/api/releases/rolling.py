"""An app's release in many stores, as tests of `/developer/apps/:appId/release` need it."""

from typing import Any
from uuid import uuid4

from django.utils import timezone

from accounts.models import Business
from extensions.enums import CallOutcome, ExtensionType
from extensions.hooks.live import hooks_at
from extensions.models import Definition, HookCall
from extensions.queries import extensions_on
from installations.models import Installation
from installations.services.approval import follow_all
from installations.services.authorization import authorize
from marketplace.enums import AppStatus
from marketplace.models import App, AppVersion
from marketplace.services import reviews
from stores.hookpoints import HookPoint
from tests import factories
from tests.clients import Api
from tests.extensions.manifests import Document, block, hook
from tests.merchants.pages import installed
from webhooks.models import Webhook
from webhooks.queries import destination

RELEASES = "Contract 10 Releases"
OLD, NEW = "https://stars.example.com/v1", "https://stars.example.com/v2"
POINT = HookPoint.DISCOUNTS
BEFORE: Document = {"blocks": [block()], "hooks": [hook()]}


def path(app: App, call: str = "") -> str:
    return f"/developer/apps/{app.pk}/release" + (f"/{call}" if call else "")


def approve(app: App, mode: str = "STEPS") -> App:
    submission = factories.submit(App.objects.get(pk=app.pk), release=mode)
    reviews.approve(submission=submission, reviewer=factories.reviewer())
    follow_all()
    return App.objects.get(pk=app.pk)


def change(app: App, **fields: Any) -> App:
    App.objects.filter(pk=app.pk).update(status=AppStatus.DRAFT, **fields)
    return App.objects.get(pk=app.pk)


def save(api: Api, app: App, document: Document) -> dict[str, Any]:
    response = api("put", f"/developer/apps/{app.pk}/manifest", document)
    assert response.status_code == 200, response.json()
    return dict(response.json())


def stores(app: App, number: int) -> list[Installation]:
    merchants = [factories.merchant(f"m{each}@example.com") for each in range(number)]
    return [installed(app, Business.objects.get(owner=each)) for each in merchants]


def seen(each: Installation) -> Installation:
    return Installation.objects.with_app().get(pk=each.pk)


def urls(installs: list[Installation]) -> dict[str, set[Any]]:
    """The stores by the version's URL of their deliveries, which is that of their hooks."""
    found: dict[str, set[Any]] = {OLD: set(), NEW: set()}
    for each in installs:
        rows = Webhook.objects.select_related(
            "installation__app__approved_version", "installation__app__rolling_version"
        )
        url = destination(rows.get(installation=each))
        assert [asked.url for asked in hooks_at(each.business, POINT)] == [f"{url}/hooks/discounts"]
        found[url].add(each.pk)
    return found


def running(business: Business) -> dict[str, Any]:
    return {
        each.definition.key: each.definition.content
        for kind in ExtensionType
        for each in extensions_on(business, kind)
    }


def call(each: Installation, *, number: int = 1, outcome: str = CallOutcome.ANSWERED, took: int = 50) -> None:
    definition = Definition.objects.get(app=each.app_id, type=ExtensionType.HOOK)
    HookCall.objects.bulk_create(
        HookCall(
            installation=each, definition=definition, hook_point=POINT, called_at=timezone.now(), duration_ms=took,
            outcome=outcome,
        )
        for _ in range(number)
    )  # fmt: skip


def new_of(installs: list[Installation]) -> Installation:
    return next(each for each in map(seen, installs) if each.is_in_release)


def old_of(installs: list[Installation]) -> Installation:
    return next(each for each in map(seen, reversed(installs)) if not each.is_in_release)


def agree(each: Installation, version: AppVersion) -> None:
    """Its merchant goes through `/oauth/authorize` and is shown this version."""
    authorize(
        app=each.app, version=version, business=each.business, user=each.business.owner, scopes=version.scopes,
        narrows=False, redirect_uri=version.redirect_url, names_redirect_uri=False, code=uuid4().hex,
    )  # fmt: skip
