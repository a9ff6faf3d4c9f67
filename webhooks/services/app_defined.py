"""The webhook that each installation has for the app's Webhook URL (contract, section 5)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Case, Exists, OuterRef, QuerySet, When
from django.utils import timezone

from common.ids import new_id, sql_id_from
from installations.models import RUNS_WORKING_COPY, Installation, InstallationQuerySet
from marketplace.models import App
from webhooks.endpoints import endpoint_key
from webhooks.engine import listeners
from webhooks.enums import Stage
from webhooks.health import reset_all
from webhooks.models import Webhook
from webhooks.queries import LISTENED_URL
from webhooks.services.deliveries import cancel_waiting, follow_url

BATCH: Final = 2_000


def create_missing(*, app: App, now: datetime, batch: int = BATCH) -> None:
    """Create, or switch on again, the webhooks that installations lack since an approval brought the app a Webhook URL.

    Until then events have no delivery, so this comes before all else that follows an approval. Each batch is a short
    transaction, which locks the app first and then its installations, as those of the rest do.
    """
    if app.rolling_version_id is not None:
        return  # stores run different versions, so each gets its webhook when it follows
    active = Installation.objects.active().filter(app=app, app__approved_version__webhook_url__gt="")
    own = Webhook.objects.filter(installation=OuterRef("pk"), is_app_defined=True, lacks_url=False)
    without = active.exclude(Exists(own))
    for ids in _batches(without.filter(RUNS_WORKING_COPY), batch):
        _follow_batch(app, ids, now)
    for ids in _batches(without.exclude(RUNS_WORKING_COPY), batch):
        _create_batch(app, ids, now)


def _batches(rows: InstallationQuerySet, size: int) -> Iterator[Sequence[UUID]]:
    """All ids are read at once: each look for the next ones would cost as much."""
    ids = list(rows.order_by("id").values_list("pk", flat=True))
    return (ids[start : start + size] for start in range(0, len(ids), size))


@transaction.atomic
def _follow_batch(app: App, ids: Sequence[UUID], now: datetime) -> None:
    _lock(app)
    rows = Installation.objects.active().with_app().filter(pk__in=ids).order_by("id").defer("webhook_secret")
    follow_app(installations=list(rows.select_for_update(of=("self",), no_key=True)), now=now)


@transaction.atomic
def _create_batch(app: App, ids: Sequence[UUID], now: datetime) -> None:
    """For installations that all see the approved version."""
    locked = _lock(app)
    version = locked.approved_version
    if version and version.webhook_url and locked.rolling_version_id is None:
        url, endpoint = version.webhook_url, endpoint_key(app.pk, version.webhook_url)
        _insert(ids, url, endpoint, now)  # which locks the installations
        own = Webhook.objects.filter(
            installation__in=ids, installation__uninstalled_at=None, is_app_defined=True
        )
        off = _locked(own.filter(lacks_url=True)).values_list("pk", flat=True)
        _move(Webhook.objects.filter(pk__in=list(off)), url, endpoint, now)


def _lock(app: App) -> App:
    """As it is now. The next approval waits."""
    apps = App.objects.select_related("approved_version").select_for_update(of=("self",), no_key=True)
    return apps.get(pk=app.pk)


@transaction.atomic(savepoint=False)
def follow_app(*, installations: Sequence[Installation], now: datetime | None = None) -> None:
    """Update the app-defined webhooks of installations to the Webhook URL that each installation uses.

    Creates a missing webhook, changes the URL of an existing one, and switches off those whose app has no URL. On a test store, a
    listener takes the place of a URL that the app doesn't have. Call it whenever a URL or a listener may have changed. Ended installations are skipped. The number of statements doesn't grow with the
    number of an app's installations.

    `installations` are read by `Installation.objects.with_app()`; their secrets may be deferred.
    """
    now = now or timezone.now()
    active = {installation.pk: installation for installation in installations if installation.is_active}
    urls = _urls_of(active)
    existing = _lock_existing(active)
    with_webhook = {webhook.installation_id for webhook in existing}
    _create({active[pk]: url for pk, url in urls.items() if url and pk not in with_webhook}, now)
    moved: dict[tuple[str, int], list[Webhook]] = defaultdict(list)
    ended = []
    for webhook in existing:
        installation = active[webhook.installation_id]
        url = urls[installation.pk]
        if url and (webhook.url != url or webhook.lacks_url):
            endpoint = endpoint_key(installation.app_id, url, sandbox=installation.own_sandbox_id)
            moved[url, endpoint].append(webhook)
        elif webhook.is_active and not url:
            ended.append(webhook)
    for (url, endpoint), webhooks in moved.items():
        _move(_rows_of(webhooks), url, endpoint, now)
    if ended:
        _switch_off(_rows_of(ended), now)


@transaction.atomic(savepoint=False)
def lead_to(*, installation: Installation, url: str, now: datetime | None = None) -> None:
    """Send what is for an installation's app-defined webhook to another URL than the app's.

    For a check of the app on another server than the one it is registered with.
    """
    existing = _lock_existing([installation.pk])
    if existing and existing[0].url != url:
        _move(_rows_of(existing), url, endpoint_key(installation.app_id, url), now or timezone.now())


def _lock_existing(installations: Iterable[UUID]) -> list[Webhook]:
    rows = Webhook.objects.filter(installation__in=list(installations), is_app_defined=True)
    return list(_locked(rows.defer("secret")))


def _locked(webhooks: QuerySet[Webhook]) -> QuerySet[Webhook]:
    return webhooks.order_by("id").select_for_update(of=("self",), no_key=True)


def _rows_of(webhooks: Iterable[Webhook]) -> QuerySet[Webhook]:
    return Webhook.objects.filter(pk__in=[webhook.pk for webhook in webhooks])


def _urls_of(installations: Mapping[UUID, Installation]) -> dict[UUID, str]:
    without = {
        pk: listeners.own(each)
        for pk, each in installations.items()
        if each.is_on_test_store and not each.webhook_url
    }
    listened = listeners.find(without)
    return {pk: LISTENED_URL if pk in listened else each.webhook_url for pk, each in installations.items()}


def _create(urls: Mapping[Installation, str], now: datetime) -> None:
    """`events` stays empty, so the webhook follows the app's list. The constraint ignores a concurrent second insert."""
    alike: dict[tuple[str, int], list[UUID]] = defaultdict(list)
    for each, url in urls.items():
        endpoint = endpoint_key(each.app_id, url, sandbox=each.own_sandbox_id)
        alike[url, endpoint].append(each.pk)
    for (url, endpoint), ids in alike.items():
        _insert(ids, url, endpoint, now)


def _insert(installations: Sequence[UUID], url: str, endpoint: int, now: datetime) -> None:
    """Skips ended installations. An uninstall at the same time waits for this and then disables the new rows."""
    if connection.vendor == "postgresql":
        _copy_secrets(installations, url, endpoint, now)
        return
    rows = Installation.objects.active().with_app().filter(pk__in=installations)
    Webhook.objects.bulk_create(
        (
            Webhook(installation=row, is_app_defined=True, url=url, secret=row.webhook_secret, created_at=now)
            for row in rows
        ),
        ignore_conflicts=True,
    )


def _copy_secrets(installations: Sequence[UUID], url: str, endpoint: int, now: datetime) -> None:
    """In one statement, without decrypting and encrypting each secret: an app may have 100,000 installations."""
    id_, of_id = sql_id_from(new_id(), "id")
    statement = f"""
        INSERT INTO webhooks_webhook
            (id, installation_id, url, endpoint, secret, events, description, is_active, is_app_defined, lacks_url,
            disabled_reason, notified_stage, created_at)
        SELECT {id_}, id, %s, %s, webhook_secret, '[]', '', true, true, false, '', %s, %s
        FROM (
            SELECT id, webhook_secret FROM installations_installation
            WHERE id = ANY(%s::uuid[]) AND uninstalled_at IS NULL ORDER BY id FOR NO KEY UPDATE
        ) AS installation
        ON CONFLICT DO NOTHING
    """  # noqa: S608
    ids = f"{{{','.join(map(str, installations))}}}"  # as text: psycopg takes longer to write an array
    with connection.cursor() as cursor:
        cursor.execute(statement, [*of_id, url, endpoint, Stage.WELL.value, now, ids])


def _move(webhooks: QuerySet[Webhook], url: str, endpoint: int, now: datetime) -> None:
    is_active = Case(When(lacks_url=True, then=True), default="is_active")
    reset_all(webhooks, now, url=url, endpoint=endpoint, is_active=is_active, lacks_url=False)
    follow_url(webhooks=webhooks, endpoint=endpoint)


def _switch_off(webhooks: QuerySet[Webhook], now: datetime) -> None:
    """The row keeps its last URL."""
    webhooks.update(is_active=False, lacks_url=True)
    cancel_waiting(webhooks=webhooks, now=now)
