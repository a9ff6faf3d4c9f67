"""The stores of a connection: opening, changing and finding them (contract, section 17)."""

from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from accounts.enums import Role
from accounts.models import Business, ConnectedStore, ShopSystem, User
from accounts.services.businesses import insert_under_free_slug
from accounts.signals import business_created
from common.errors import NotFound
from common.ids import new_id

OWNER: Final = "{}@connected.invalid"  # RFC 2606: no mail reaches it, and nobody can sign in


def store_of(system: ShopSystem, external_id: str) -> ConnectedStore:
    """Raises `NotFound` for one that isn't this connection's, or is ending."""
    rows = ConnectedStore.objects.standing().select_related("business", "system")
    found = rows.filter(system=system, external_id=external_id).first()
    if found is None:
        raise NotFound("Store not found")
    return found


@transaction.atomic
def open_store(
    *, system: ShopSystem, external_id: str, values: dict[str, Any], now: datetime | None = None
) -> ConnectedStore:
    """Open a business for a store of a shop system. `values` are columns of `Business`."""
    now = now or timezone.now()
    owner = User(id=new_id(), name=values["name"], role=Role.MERCHANT, is_active=False, date_joined=now)
    owner.email = OWNER.format(owner.pk)
    owner.set_unusable_password()
    owner.save(force_insert=True)
    business = Business(owner=owner, is_sandbox=system.is_test, is_connected=True, created_at=now, **values)
    insert_under_free_slug(business)
    store = ConnectedStore.objects.create(business=business, system=system, external_id=external_id)
    business_created.send(sender=Business, business=business, with_samples=False, now=now)
    return store
