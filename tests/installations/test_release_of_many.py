"""A release in steps over a thousand stores (contract, section 10)."""

from datetime import timedelta
from time import monotonic
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Business, User
from common.secrets import new_webhook_secret
from extensions.enums import ExtensionType
from extensions.hooks.live import hooks_at
from extensions.models import Breaker, Definition
from extensions.queries import running_definitions
from extensions.services.manifests import save_manifest
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App
from marketplace.services import releases
from stores.hookpoints import HookPoint
from stores.models import StoreTotals
from tests import factories
from tests.approvals import approve
from tests.extensions.manifests import Document, block, hook, widget, without
from tests.installations.many_stores import seen_by_another_process, seen_in_stores

RELEASES = "Contract 10 Releases"
STORES = 1_000
OLD, NEW = "https://stars.example.com/v1", "https://stars.example.com/v2"


def manifest(url: str) -> Document:
    return {
        "blocks": [block(renderUrl=f"{url}/block")],
        "embeds": [widget(renderUrl=f"{url}/chat")],
        "hooks": [hook()],
    }


@pytest.fixture
def app(dana: User, mira: User) -> App:
    """Approved with a hook and a block; each of many stores has it."""
    app = factories.app(dana, webhook_url=OLD)
    App.objects.filter(pk=app.pk).update(live_saves=False)
    save_manifest(app=app, developer=dana, document=manifest(OLD))
    app = approve(app, "ALL")
    secret = new_webhook_secret(test=False)
    stores = Business.objects.bulk_create(
        Business(owner=mira, name=f"Store {number}", slug=f"store-{number}") for number in range(STORES)
    )
    StoreTotals.objects.bulk_create(StoreTotals(business=store) for store in stores)
    Installation.objects.bulk_create(
        Installation(
            app=app, business=store, webhook_secret=secret, granted_scopes=app.approved_scopes,
            agreed_version=app.approved_version, runs=app.approved_version, installed_by=mira,
        )
        for store in stores
    )  # fmt: skip
    app.versions.update(followed_at=None)
    follow_all()
    return app


def runs(seen: dict[str, Any], url: str) -> bool:
    """Whether all that is seen of a store is of the version with this URL, and nothing is of the other one."""
    other = OLD if url == NEW else NEW
    return all(url in text and other not in text for text in map(str, seen.values()))


@pytest.mark.slow
@pytest.mark.timeout(3000)  # 10,000 pages
@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(RELEASES, "About so many per cent; a step only adds; others see no changed byte")
@pytest.mark.spec(RELEASES, "The same stores for every page, hook, delivery and process")
def test_steps_of_many_stores(app: App, dana: User) -> None:
    before = seen_in_stores()
    assert len(before) == STORES
    assert all(runs(seen, OLD) for seen in before.values())
    save_manifest(app=app, developer=dana, document=manifest(NEW))
    app = approve(app, "STEPS", webhook_url=NEW)
    inside: set[str] = set()
    for number in (10, 50, 250, STORES):
        found = seen_in_stores()
        now = {slug for slug, seen in found.items() if runs(seen, NEW)}
        assert len(now) == number
        assert inside < now
        assert all(found[slug] == before[slug] for slug in before.keys() - now)
        assert seen_by_another_process() == found
        inside = now
        if number < STORES:
            releases.advance(app=app)
            follow_all()


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.spec(
    RELEASES, "back: within 5 s all is as the version before was approved; its breakers are closed"
)
def test_take_back_of_many_stores(app: App, dana: User) -> None:
    """The newer version dropped the hook and the block, and later saves dropped more."""
    before = seen_in_stores()
    App.objects.update(live_saves=True)
    save_manifest(app=app, developer=dana, document=without(manifest(NEW), "blocks", "hooks"))
    app = approve(app, "ALL", webhook_url=NEW)
    save_manifest(app=app, developer=dana, document={})
    definition = Definition.objects.get(type=ExtensionType.HOOK)
    now = timezone.now()
    Breaker.objects.bulk_create(
        Breaker(
            installation=each, definition=definition, open_since=now, open_until=now + timedelta(minutes=5)
        )
        for each in Installation.objects.all()[:300]
    )
    (store,) = seen_in_stores("store-7").values()
    del store["page"]
    assert store == {"delivery": NEW, "hooks": [], "definitions": {}}
    began = monotonic()
    releases.take_back(app=app, by=dana)
    follow_all()
    took = monotonic() - began
    assert seen_in_stores() == before
    assert not Breaker.objects.exists()
    assert took < 5


@pytest.mark.long
@pytest.mark.spec(RELEASES, "An open release costs a page and a hook no statement more")
def test_statements(app: App) -> None:
    def statements(store: Business) -> int:
        with CaptureQueriesContext(connection) as found:
            hooks_at(store, HookPoint.DISCOUNTS)
            installed = list(Installation.objects.with_app().filter(business=store))
            assert running_definitions(installed, ExtensionType.BLOCK)
            assert [each.webhook_url for each in installed] == [OLD]
        return len(found)

    usual = statements(Business.objects.get(slug="store-7"))
    approve(app, "STEPS", webhook_url=NEW)
    outside = next(each for each in Installation.objects.with_app() if not each.is_in_release)
    assert statements(outside.business) == usual == 3
