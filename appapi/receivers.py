"""Reactions to changes in lower-level apps. Connected by `AppApiConfig`."""

from datetime import datetime, timedelta
from typing import Any

from django.dispatch import receiver

from accounts.models import Business
from appapi.services import exports, idempotency
from common.rest.idempotency import forget, owner_of
from installations.models import Installation
from installations.signals import installation_removed
from stores.customers import Copies
from stores.signals import copies_to_erase, customer_erased
from teststores.signals import clock_advanced


@receiver(clock_advanced)
def on_clock_advanced(business: Business, by: timedelta, **_: Any) -> None:
    idempotency.bring_forward(business, by)


@receiver(installation_removed)
def on_installation_removed(installation: Installation, **_: Any) -> None:
    forget(owner_of("installation", installation.pk))


@receiver(copies_to_erase)
def on_copies_to_erase(copies: Copies, now: datetime, **_: Any) -> None:
    idempotency.erase_customer(copies)
    exports.erase_late(copies, now=now)


@receiver(customer_erased)
def on_customer_erased(copies: Copies, now: datetime, **_: Any) -> None:
    exports.erase_customer(copies, now=now)
