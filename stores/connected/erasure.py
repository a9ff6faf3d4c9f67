"""Erases one customer of a connected store, as its shop asks (contract, section 17, "Customers")."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.models import ConnectedStore
from common.errors import NotFound
from stores.connected.mirror import locked
from stores.customers import Person
from stores.models import CustomerErasure, MirroredRow
from stores.services.customer_erasure import erase


@transaction.atomic
def erase_customer(*, store: ConnectedStore, person: Person, now: datetime | None = None) -> CustomerErasure:
    """Also where an order is open: the shop goes on with it. Later rows of what was erased are taken without the person.

    For a person of whom nothing is stored it is an erasure of nothing, so that the result doesn't tell. Raises `NotFound` for a store that
    is ending.
    """
    locked(store)
    try:
        done = erase(business=store.business, person=person, now=now)
    except NotFound:
        now = now or timezone.now()
        return CustomerErasure.objects.create(business=store.business, at=now, swept_at=now)
    erased = MirroredRow.objects.filter(row_id__in=[*done.order_ids, *done.review_ids])
    erased.update(erased_at=done.at)
    return done
