"""The staff of stores. The only writer of `Staff`."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db.models import Q

from accounts.access import require_role, role_in
from accounts.enums import Role, StoreRole
from accounts.models import Business, Staff, User
from accounts.services.confirmation import must_confirm
from accounts.services.outbox import ACCOUNT, post
from accounts.services.roster import RoleWords, Roster, RosterChange
from common.errors import NotAllowed
from common.mails.letters import MailDraft

_SAID: Final = {
    RosterChange.JOINED: "{email} belongs to {store} now. Their role is {role}.",
    RosterChange.ROLE_CHANGED: "The role of {email} in {store} is {role} now.",
    RosterChange.REMOVED: "{email} was removed from {store}.",
    RosterChange.LEFT: "{email} left {store}.",
    RosterChange.CLOSED: "{store} has closed.",
}


def _require_owner(store: Business, user: User) -> None:
    require_role(store, user, least=StoreRole.OWNER, to="decide on its staff")
    if store.is_sandbox:
        raise NotAllowed("A sandbox store has no staff.")


def _lock(store: Business) -> Business:
    rows = Business.objects.select_for_update(of=("self",), no_key=True).select_related("owner")
    return rows.get(pk=store.pk)


def _lock_all(user: User) -> Iterable[Business]:
    """Stores close with their owner's account."""
    rows = Staff.objects.filter(Q(user=user) | Q(business__owner=user))
    return Business.objects.filter(pk__in=rows.values("business")).order_by("pk").select_for_update()


def _follow(change: RosterChange, store: Business, row: Staff, now: datetime) -> None:
    """The owner and the person of the row get the same sentence. An address that isn't confirmed gets none, so neither does who
    hasn't accepted an invitation: the sentence names the store.
    """
    if row.user is None:
        return
    said = _SAID[change].format(email=row.address, store=store.name, role=row.get_role_display())
    of_owner = [] if change == RosterChange.CLOSED else [(store.owner, f"staff/?store={store.slug}")]
    for person, path in (*of_owner, (row.user, "businesses/")):
        if not must_confirm(person):
            facts = {"said": said, "page": f"{settings.BASE_URL}/merchant/{path}"}
            draft = MailDraft(f"{store.name}: staff", "accounts/mail/staff_change.txt", facts)
            post(draft, to=person.email, kind=ACCOUNT)


STAFF: Final = Roster(
    thing="store",
    model=Staff,
    column="business",
    owner="owner",
    ended="business__owner__deleted_at",
    path="merchant/invitations",
    most=50,
    owner_role=StoreRole.OWNER,
    roles={
        StoreRole.MANAGER: RoleWords(
            "Everything but staff: products, pages, apps, settings.",
            "as a manager",
            "You will do everything in the store but decide on its staff.",
        ),
        StoreRole.ORDERS: RoleWords(
            "Orders, reviews and customers. Nothing else of the store.",
            "for its orders, reviews and customers",
            "You will handle its orders and reviews. Nothing else of the store is shown to you.",
            comma=",",
        ),
    },
    usual_role=StoreRole.ORDERS,
    accounts=[Role.MERCHANT],
    only_confirmed_invite=True,  # so that no stranger's address brings a store's name to others
    mail_kind="staff-invitation",
    salt="accounts.staff-invitation",
    log_kinds="STAFF",
    unknown="Not found among the staff",
    owner_stays="The owner can't be changed or removed.",
    wrong_role="Choose Manager or Orders.",
    is_on_it="This person belongs to the store already.",
    you_are_on_it="You belong to {name} already.",
    too_many="A store has at most {most} people.",
    role_of=role_in,
    require_owner=_require_owner,
    lock=_lock,
    lock_all=_lock_all,
    follow=_follow,
)
