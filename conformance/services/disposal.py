"""Deletes throwaway stores, of runs that have ended and test stores that have expired, with everything that happened in them."""

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import Business
from activity.models import ApiCall, DeprecatedUse, StoreScopeUse
from common.db.rows import for_each
from conformance.enums import RunStatus
from conformance.models import Run
from conformance.services.runs import end_overdue
from installations.models import Grant, Installation
from webhooks.models import Endpoint, Webhook

LINGERS: Final = timedelta(seconds=10)  # in which calls of the app that came last are logged
KEPT: Final = timedelta(days=30)  # results


def remove_ended(*, now: datetime | None = None) -> int:
    """End overdue runs, delete stores that aren't needed any more, and old results. Returns the number of stores."""
    now = now or timezone.now()
    end_overdue(now=now)
    running = Run.objects.running().exclude(store=None).values("store")
    ended = Q(expires_at__lt=now) | Q(pk__in=Run.objects.filter(ended_at__lt=now - LINGERS).values("store"))
    stores = Business.objects.filter(ended, expires_at__isnull=False).exclude(pk__in=running)
    removed = for_each(stores, lambda store: _remove(store), task="remove_ended_checks")
    Run.objects.filter(ended_at__lt=now - KEPT).exclude(status=RunStatus.RUNNING).delete()
    return removed


@transaction.atomic
def _remove(store: Business) -> int:
    installations = list(Installation.objects.filter(business=store).values_list("pk", flat=True))
    for log in (ApiCall, DeprecatedUse, StoreScopeUse):
        log.objects.filter(installation__in=installations).delete()
    # Those of a test store are its own; a check's has that of the app, whose other stores need what is known of it.
    own = Webhook.objects.filter(installation__in=installations, installation__is_own=True)
    Endpoint.objects.filter(pk__in=list(own.values_list("endpoint", flat=True))).delete()
    Grant.objects.filter(business=store).delete()
    Installation.objects.filter(pk__in=installations).delete()
    store.delete()
    return 1
