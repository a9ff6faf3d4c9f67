"""A release in steps over a thousand stores (contract, section 10)."""

from collections import Counter
from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Business, User
from common.secrets import new_webhook_secret
from extensions.enums import ExtensionType
from extensions.hooks.live import live_hooks
from extensions.queries import running_definitions
from extensions.services.manifests import save_manifest
from installations.models import Installation, with_versions
from installations.services.approval import follow_all
from marketplace.models import App, Release, place_of
from marketplace.services import releases
from stores.hookpoints import HookPoint
from tests import factories
from tests.approvals import approve
from tests.extensions.manifests import block, hook
from webhooks.models import Webhook
from webhooks.queries import destination

RELEASES = "Contract 10 Releases"
STORES = 1_000
OLD, NEW = "https://stars.example.com/v1", "https://stars.example.com/v2"


@pytest.fixture
def app(dana: User, mira: User) -> App:
    """Approved with a hook and a block; each of many stores has it."""
    app = factories.app(dana, webhook_url=OLD)
    save_manifest(app=app, developer=dana, document={"blocks": [block()], "hooks": [hook()]})
    app = approve(app, "ALL")
    secret = new_webhook_secret(test=False)
    stores = Business.objects.bulk_create(
        Business(owner=mira, name=f"Store {number}", slug=f"store-{number}") for number in range(STORES)
    )
    Installation.objects.bulk_create(
        Installation(
            app=app, business=store, webhook_secret=secret, granted_scopes=app.approved_scopes,
            agreed_version=app.approved_version, installed_by=mira,
        )
        for store in stores
    )  # fmt: skip
    app.versions.update(followed_at=None)
    follow_all()
    return app


def urls() -> dict[Any, str]:
    rows = Webhook.objects.select_related(*with_versions("installation__"))
    found = {each.installation_id: destination(each) for each in rows}
    stored = dict(Webhook.objects.values_list("installation", "url"))
    assert found == stored, "what a delivery asks, and what the row has"
    return found


def hooks_of(some: list[Installation]) -> Iterator[tuple[Any, str]]:
    for each in some:
        (asked,) = live_hooks(each.business, HookPoint.DISCOUNTS)
        yield each.pk, asked.url.removesuffix("/hooks/discounts")


@pytest.mark.spec(
    RELEASES, "About so many per cent; the same stores for every page, hook and delivery; a step only adds"
)
def test_steps_of_many_stores(app: App) -> None:
    before = set(urls())
    app = approve(app, "STEPS", webhook_url=NEW)
    release = Release.objects.get(version=app.approved_version)
    inside: set[Any] = set()
    for number in (10, 50, 250):
        found = urls()
        now = {pk for pk, url in found.items() if url == NEW}
        assert len(now) == number
        assert inside < now
        assert {found[pk] for pk in before - now} == {OLD}
        inside = now
        some = list(Installation.objects.with_app().select_related("business").order_by("pk")[:40])
        assert dict(hooks_of(some)) == {each.pk: found[each.pk] for each in some}
        assert {each.pk for each in some if each.is_in_release} == now & {each.pk for each in some}
        release.refresh_from_db()
        assert {pk for pk in before if place_of(release.version_id, pk) <= (release.bound or 0)} == now
        releases.advance(app=app)
        follow_all()
    assert Counter(urls().values()) == {NEW: STORES}


@pytest.mark.spec(RELEASES, "Take back reaches a thousand stores within 5 seconds")
def test_take_back_of_many_stores(app: App, dana: User) -> None:
    app = approve(app, "ALL", webhook_url=NEW)
    assert Counter(urls().values()) == {NEW: STORES}
    began = monotonic()
    releases.take_back(app=app, by=dana)
    some = list(Installation.objects.with_app().select_related("business")[:20])
    assert {url for _, url in hooks_of(some)} == {OLD}, "with the commit"
    follow_all()
    took = monotonic() - began
    assert Counter(urls().values()) == {OLD: STORES}
    assert took < 5


@pytest.mark.spec(RELEASES, "An open release costs a page and a hook no statement more")
def test_statements(app: App) -> None:
    def statements(store: Business) -> int:
        with CaptureQueriesContext(connection) as found:
            live_hooks(store, HookPoint.DISCOUNTS)
            installed = list(Installation.objects.with_app().filter(business=store))
            assert running_definitions(installed, ExtensionType.BLOCK)
            assert [each.webhook_url for each in installed] == [OLD]
        return len(found)

    usual = statements(Business.objects.get(slug="store-7"))
    approve(app, "STEPS", webhook_url=NEW)
    outside = next(each for each in Installation.objects.with_app() if not each.is_in_release)
    assert statements(outside.business) == usual == 3
