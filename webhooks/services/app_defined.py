"""The webhook that each installation has for the app's Webhook URL (contract, section 5)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from installations.models import Installation
from webhooks.endpoints import endpoint_key
from webhooks.health import reset_all
from webhooks.models import Webhook
from webhooks.services.deliveries import cancel_waiting, follow_url


@transaction.atomic(savepoint=False)
def follow_app(*, installations: Sequence[Installation], now: datetime | None = None) -> None:
    """Update the app-defined webhooks of installations to the Webhook URL that each installation uses.

    Creates a missing webhook, changes the URL of an existing one, and switches off those whose app has no URL. Call it
    whenever a URL may have changed. Ended installations are skipped. The number of statements doesn't grow with the
    number of an app's installations.

    `installations` are read by `Installation.objects.with_app()`; their secrets may be deferred.
    """
    now = now or timezone.now()
    active = {installation.pk: installation for installation in installations if installation.is_active}
    existing = _lock_existing(active)
    with_webhook = {webhook.installation_id for webhook in existing}
    _create([each for each in active.values() if each.webhook_url and each.pk not in with_webhook], now)
    moved: dict[tuple[str, int], list[Webhook]] = defaultdict(list)
    ended = []
    for webhook in existing:
        installation = active[webhook.installation_id]
        url = installation.webhook_url
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
    rows = Webhook.objects.defer("secret").filter(installation__in=list(installations), is_app_defined=True)
    return list(rows.order_by("id").select_for_update(no_key=True))


def _rows_of(webhooks: Iterable[Webhook]) -> QuerySet[Webhook]:
    return Webhook.objects.filter(pk__in=[webhook.pk for webhook in webhooks])


def _create(installations: Sequence[Installation], now: datetime) -> None:
    """`events` stays empty, so the webhook follows the app's list. The constraint ignores a concurrent second insert."""
    if not installations:
        return
    ids = [installation.pk for installation in installations]
    secrets = dict(Installation.objects.filter(pk__in=ids).values_list("pk", "webhook_secret"))
    Webhook.objects.bulk_create(
        (
            Webhook(
                installation=installation,
                is_app_defined=True,
                url=installation.webhook_url,
                secret=secrets[installation.pk],
                created_at=now,
            )
            for installation in installations
        ),
        ignore_conflicts=True,
    )


def _move(webhooks: QuerySet[Webhook], url: str, endpoint: int, now: datetime) -> None:
    webhooks.filter(lacks_url=True).update(lacks_url=False, is_active=True)
    webhooks.update(url=url, endpoint=endpoint)
    reset_all(webhooks, now)
    follow_url(webhooks=webhooks, endpoint=endpoint)


def _switch_off(webhooks: QuerySet[Webhook], now: datetime) -> None:
    """The row keeps its last URL."""
    webhooks.update(is_active=False, lacks_url=True)
    cancel_waiting(webhooks=webhooks, now=now)
