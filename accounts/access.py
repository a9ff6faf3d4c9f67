"""Decides what a person may do with a store. No other module compares the owner of a business with a person.

An OWNER does everything. A MANAGER does all but staff and ending the business. ORDERS sees orders, reviews and customers, and none
of the rest (contract, section 11). Only merchants' stores have staff: a developer's sandbox belongs to its developer alone. In a
connected store everybody is staff, its owners too, and the account that owns the business belongs to no person.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Case, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Coalesce
from django.urls import URLPattern

from accounts.enums import StoreRole
from accounts.models import Business, BusinessQuerySet, Staff, User
from accounts.models.capabilities import NAMES
from common.errors import NotAllowed

_RANKS: Final = (StoreRole.ORDERS, StoreRole.MANAGER, StoreRole.OWNER)
TOO_LITTLE: Final = "Your role in {store} is {role}. {needed}"
_NEEDED: Final = {
    StoreRole.MANAGER: "Only its owner and its managers can do this.",
    StoreRole.OWNER: "Only its owner can do this.",
}


def may(role: StoreRole | str | None, least: StoreRole) -> bool:
    """Whether a role is at least this one. None, for a stranger, never is."""
    return role is not None and _RANKS.index(StoreRole(role)) >= _RANKS.index(least)


def stores_of(user: User, least: StoreRole = StoreRole.ORDERS) -> BusinessQuerySet:
    """The stores in which the person has at least this role. Both halves of the union are found by an index."""
    roles = [role for role in _RANKS if may(role, least)]
    others = Staff.objects.filter(user=user, role__in=roles).values("business")
    return Business.objects.filter(pk__in=Business.objects.filter(owner=user).values("pk").union(others))


def copies_of(user: User, now: datetime) -> BusinessQuerySet:
    """The copies of stores that the person owns or manages, on which apps are tried. They are in no list of stores."""
    return Business.objects.filter(copy_of__in=stores_of(user, StoreRole.MANAGER), expires_at__gt=now)


def dashboards_of(user: Any, now: Any) -> BusinessQuerySet:
    """`stores_of` and `copies_of` in one. Each part of the union is found by an index."""
    staff = Staff.objects.filter(user=user)
    managed = staff.filter(role__in=[StoreRole.MANAGER, StoreRole.OWNER])
    copies = Business.objects.filter(expires_at__gt=now)
    return Business.objects.filter(
        pk__in=Business.objects.filter(owner=user)
        .values("pk")
        .union(
            staff.values("business"),
            copies.filter(copy_of__in=Business.objects.filter(owner=user)).values("pk"),
            copies.filter(copy_of__in=managed.values("business")).values("pk"),
        )
    )


def with_roles(stores: BusinessQuerySet, user: User) -> Any:
    """Read the person's role along, as `store_role`: in a copy that in its store. The stores are all the person's (`dashboards_of`)."""
    rows = Staff.objects.filter(business=Coalesce(OuterRef("copy_of"), OuterRef("pk")), user=user)
    owner = When(Q(owner=user) | Q(copy_of__owner=user), then=Value(StoreRole.OWNER.value))
    added: Any = {"store_role": Case(owner, default=Subquery(rows.values("role")))}
    return stores.annotate(**added)


def role_in(business: Business, user: User | AnonymousUser) -> StoreRole | None:
    """The person's role in the store. None for strangers and visitors. No statement for the owner.

    A copy is for the owner and the managers of its store.
    """
    if business.copy_of_id is not None:
        role = role_in(Business.objects.get(pk=business.copy_of_id), user)
        return role if may(role, StoreRole.MANAGER) else None
    if business.owner_id == user.pk:
        return StoreRole.OWNER
    if not isinstance(user, User):
        return None
    row = Staff.objects.filter(business=business, user=user).values_list("role", flat=True).first()
    return StoreRole(row) if row else None


def require_role(business: Business, user: User, *, to: str, least: StoreRole = StoreRole.MANAGER) -> None:
    """Raise `NotAllowed` for a role below `least`. `to` says in the message what only those with the role can do."""
    if not may(role_in(business, user), least):
        who = "owner" if least == StoreRole.OWNER else "owner and its managers"
        raise NotAllowed(f"Only the store's {who} can {to}.")


def require_rank(business: Business, role: StoreRole, least: StoreRole) -> None:
    """Raise `NotAllowed`, with the role, for one below `least`."""
    if not may(role, least):
        raise NotAllowed(TOO_LITTLE.format(store=business.name, role=role.label, needed=_NEEDED[least]))


def only_with(capability: str, *routes: URLPattern) -> list[URLPattern]:
    """Routes of the pages that a store, and its people, have with this capability. In another one they are a 404, whatever the role and the
    method (`merchants.access.CapabilityMiddleware`).
    """
    assert capability in NAMES
    for route in routes:
        cast(Any, route.callback).needs = capability
    return list(routes)


def is_own_sandbox(business: Business, user: User) -> bool:
    return business.is_sandbox and business.owner_id == user.pk


def people_of(
    stores: Iterable[Business], least: StoreRole = StoreRole.MANAGER
) -> Mapping[UUID, Sequence[User]]:
    """By the ids of stores that were read with their owners: the people with at least this role whose accounts are open.

    One statement. The owner comes first.
    """
    found: defaultdict[UUID, list[User]] = defaultdict(list)
    stores = {each.pk: each for each in stores}.values()
    for store in stores:
        found[store.pk] += [store.owner] if store.owner.is_active else []
    roles = [role for role in _RANKS if may(role, least)]
    rows = Staff.objects.filter(
        business__in=[each.pk for each in stores if each.is_connected or not each.is_sandbox]
    )
    staff = rows.filter(role__in=roles, user__is_active=True).select_related("user")
    for row in staff.order_by("since", "id"):
        assert row.user is not None
        found[row.business_id].append(row.user)
    return found
