"""The mails that each person wants: the one place that knows. Mails about an account itself are always sent."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from accounts.enums import Frequency, MailKind, Role, StoreNotice
from accounts.models import User

MAILS: Final = {
    Role.DEVELOPER: (
        MailKind.FAILING_WEBHOOKS,
        MailKind.REVIEW_DECISIONS,
        MailKind.CHECKS,
        MailKind.RELEASES,
    ),
    Role.MERCHANT: (MailKind.PERMISSION_QUESTIONS, MailKind.FAILING_APPS, MailKind.ERASURES),
}
# An order waits for the merchant. Goods are ordered by the day, and a review asks for nothing.
FREQUENCIES: Final = {
    StoreNotice.NEW_ORDERS: Frequency.EACH,
    StoreNotice.LOW_STOCK: Frequency.DAILY,
    StoreNotice.NEW_REVIEWS: Frequency.OFF,
}
# The kinds that somebody gets whose role in the store is ORDERS.
OF_ORDERS: Final = (StoreNotice.NEW_ORDERS, StoreNotice.NEW_REVIEWS)


def mails_of(user: User) -> list[MailKind]:
    """The notices that this person may choose."""
    return list(MAILS.get(Role(user.role), ()))


def wants_mail(user: User, kind: MailKind) -> bool:
    return user.is_active and kind not in user.muted_mails


def choose_mails(*, user: User, wanted: Iterable[str]) -> None:
    chosen: Any = set(wanted)
    user.muted_mails = [kind.value for kind in mails_of(user) if kind not in chosen]
    user.save(update_fields=["muted_mails"])


def frequency_of(user: User, notice: StoreNotice) -> Frequency:
    """How often the person wants mails of this kind."""
    return Frequency(user.store_notices.get(notice, FREQUENCIES[notice])) if user.is_active else Frequency.OFF


def choose_frequencies(*, user: User, chosen: Mapping[StoreNotice, Frequency]) -> None:
    user.store_notices = user.store_notices | {kind.value: often.value for kind, often in chosen.items()}
    user.save(update_fields=["store_notices"])
