"""The stores of a connection: opening, changing, finding and ending them (contract, section 17)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import CharField, UUIDField
from django.utils import timezone

from accounts.enums import Role
from accounts.models import Business, ConnectedStore, ShopSystem, User
from accounts.services.businesses import RESERVED_SLUGS, WIRE_NAMES, insert_under_free_slug
from accounts.services.deletion import close_account
from accounts.services.shops import has_controls
from accounts.sign_in import tickets
from accounts.signals import business_created
from common.db.compiled import Compiled, Param
from common.errors import Conflict, ConflictForNow, Invalid, NotFound, Unauthenticated, check_fields
from common.http.url_policy import origin_of
from common.ids import new_id, parse_id
from common.processes.background import enqueue_after_commit
from common.rest.idempotency import forget, owner_of
from stores.models import Order, Product

OWNER: Final = "{}@connected.invalid"  # RFC 2606: no mail reaches it, and it has no password
RETRY_AFTER: Final = 15  # seconds; an ended store is gone within a minute
DEFAULTS: Final = {"type": "", "address": "", "locale": "en", "timezone": "UTC"}
REMOVAL: Final = "stores.tasks.remove_ended_stores"  # soon; a lost message is made up for by the scheduler
PLACES: Final = (
    "storefront_url",
    "storefront_origins",
)  # the columns of `ConnectedStore` that the shop fills

_STANDING = Compiled(
    lambda: (
        ConnectedStore.objects.standing()
        .filter(business=Param("business", UUIDField()))
        .values_list("business_id")
    )
)

# For each request of a shop.
_OF_SYSTEM: Final = Compiled(
    lambda: (
        ConnectedStore.objects.standing()
        .select_related("business")
        .filter(system=Param("system", UUIDField()), external_id=Param("external_id", CharField()))
    ),
    prepared_as="connected_stores",
)


def store_of(system: ShopSystem, external_id: str) -> ConnectedStore:
    """Raises `NotFound` for one that isn't this connection's, or is ending."""
    found = _OF_SYSTEM.first(system=system.pk, external_id=external_id)
    if found is None:
        raise _absent()
    found.system = system
    return found


def shown_store(business_id: object) -> ConnectedStore:
    """The store whose pages shoppers see elsewhere, by our id of it. Raises `NotFound` for every other one: of ours, ending, without a
    `storefrontUrl`.
    """
    known = parse_id(business_id)
    rows = ConnectedStore.objects.standing().exclude(storefront_url="").select_related("business")
    found = rows.filter(business=known).first() if known else None
    if found is None:
        raise _absent()
    return found


def origins_of(store: ConnectedStore) -> set[str]:
    """Those of its pages, as browsers write them."""
    return {origin_of(store.storefront_url), *store.storefront_origins}


def hold(business_id: UUID) -> None:
    """Keep a store from ending, and from changing its currency, until the end of the transaction, which may then write its rows.

    Many may hold it at once. Raises `NotFound` for one that has ended meanwhile.
    """
    if not _STANDING.rows(business=business_id, shared=True):
        raise _absent()


def _absent() -> NotFound:
    return NotFound("Store not found")


def put_store(
    *, system: ShopSystem, external_id: str, values: Mapping[str, Any], now: datetime | None = None
) -> tuple[ConnectedStore, bool]:
    """Open a store, or change it to be as `values` says; whether it was opened. A value that is left out has its default, but a slug stays.

    `values` are columns of `Business` and of `PLACES`. Raises `Invalid` naming each bad field, and `Conflict` for a slug that is
    taken, a store that is ending, and another currency for one with products or orders.
    """
    values = {**DEFAULTS, "storefront_url": "", "storefront_origins": [], **values}
    with transaction.atomic():
        # Two PUTs of a new store wait for each other here, and neither comes behind **Disconnect**.
        if not ShopSystem.objects.active().select_for_update(no_key=True).filter(pk=system.pk):
            raise Unauthenticated("The connection has ended.", code="invalid_key")
        found = ConnectedStore.objects.filter(system=system, external_id=external_id)
        store = found.select_for_update(no_key=True, of=("self",)).select_related("business").first()
        if store is None:
            return open_store(system=system, external_id=external_id, values=dict(values), now=now), True
        if store.ending_since:
            message = "A store with this id is being removed."
            raise ConflictForNow(message, retry_after=RETRY_AFTER, code="store_going")
        _change(store, values)
    return store, False


def open_store(
    *, system: ShopSystem, external_id: str, values: dict[str, Any], now: datetime | None = None
) -> ConnectedStore:
    """Open a business for a store of a shop system. `values` are as `put_store` has them."""
    now = now or timezone.now()
    places = {column: values.pop(column) for column in PLACES if column in values}
    slug = values.pop("slug", None)
    owner = User(id=new_id(), name=values["name"], role=Role.MERCHANT, is_active=False, date_joined=now)
    owner.email = OWNER.format(owner.pk)
    owner.set_unusable_password()
    business = Business(owner=owner, is_sandbox=system.is_test, is_connected=True, created_at=now, **values)
    _check(business)
    with transaction.atomic():
        owner.save(force_insert=True)
        if slug:
            _take_slug(business, slug, force_insert=True)
        else:
            insert_under_free_slug(business)
        store = ConnectedStore.objects.create(
            business=business, system=system, external_id=external_id, **places
        )
        business_created.send(sender=Business, business=business, with_samples=False, now=now)
    return store


def _change(store: ConnectedStore, values: Mapping[str, Any]) -> None:
    business = store.business
    changed = [
        column for column in WIRE_NAMES if column in values and getattr(business, column) != values[column]
    ]
    for column in changed:
        setattr(business, column, values[column])
    _check(business)
    if "currency" in changed and _has_amounts(business):
        message = "The currency can't change once the store has a product or an order."
        raise Conflict(message, code="currency_fixed")
    if (slug := values.get("slug")) and slug != business.slug:
        _take_slug(business, slug, update_fields=["slug"])
    if changed:
        business.save(update_fields=changed)
    places = [column for column in PLACES if getattr(store, column) != values[column]]
    for column in places:
        setattr(store, column, values[column])
    if places:
        store.save(update_fields=places)


def _check(business: Business) -> None:
    """Names are the shop's own, which people know it by: they are checked for what breaks a line or a page alone."""
    if has_controls(business.name):
        raise Invalid.field("name", "Must not contain control characters.")
    check_fields(business, WIRE_NAMES)


def _take_slug(business: Business, slug: str, **saved: Any) -> None:
    if slug in RESERVED_SLUGS:
        raise Invalid.field("slug", f"{slug} is reserved. Choose another one.")
    business.slug = slug
    try:
        with transaction.atomic():
            business.save(**saved)
    except IntegrityError as error:
        raise Conflict("Another store has this slug. Choose another one.", code="store_slug_taken") from error


def _has_amounts(business: Business) -> bool:
    rows = (Product.objects.filter(business=business), Order.objects.filter(business=business))
    return any(each.exists() for each in rows)


# --- Ending ------------------------------------------------------------------------------------------


@transaction.atomic
def end_store(*, system: ShopSystem, external_id: str, now: datetime | None = None) -> None:
    """End a store as its merchant's account would: apps are uninstalled, the slug is free, and a worker removes its records.

    Raises `NotFound` for one that isn't this connection's, or is ending.
    """
    rows = ConnectedStore.objects.standing().filter(system=system, external_id=external_id)
    # Waits for those that `hold` it. The next ones see that it ends.
    store = rows.select_for_update(no_key=True, of=("self",)).select_related("business__owner").first()
    if store is None:
        raise _absent()
    _end(store, now or timezone.now())
    enqueue_after_commit(REMOVAL, expires=60.0)


@transaction.atomic
def disconnect(*, system: ShopSystem, now: datetime | None = None) -> None:
    """End a connection with its keys, and all its stores. Raises `Conflict` if it has ended already."""
    now = now or timezone.now()
    if not ShopSystem.objects.active().filter(pk=system.pk).update(ended_at=now):
        raise Conflict("This shop system is disconnected already.")
    forget(owner_of("shop", system.pk))
    rows = ConnectedStore.objects.standing().filter(system=system).order_by("pk")
    for store in rows.select_for_update(no_key=True, of=("self",)).select_related("business__owner"):
        _end(store, now)
    enqueue_after_commit(REMOVAL, expires=60.0)


def _end(store: ConnectedStore, now: datetime) -> None:
    store.ending_since = now
    store.save(update_fields=["ending_since"])
    tickets.sign_out_all(store=store)
    close_account(person=User.objects.select_for_update().get(pk=store.business.owner_id), now=now)
