"""A store's customers. There are no accounts: a person is one e-mail address or one phone number (contract, section 12)."""

import re
from dataclasses import dataclass
from typing import Any, Final, Self

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import Func, Q, QuerySet, TextField
from django.db.models.functions import Lower, Trim

from accounts.models import Business
from common.errors import Invalid
from stores.enums import OPEN
from stores.models import LINES, Order, Review

# Spaces, brackets, dashes, dots and slashes, as people and their keyboards write them.
SEPARATORS: Final = " \t\u00a0\u202f\u2009()[]{}-\u2010\u2011\u2012\u2013\u2014\u2212./\\"
_DROPPED: Final = str.maketrans("", "", SEPARATORS)
_PHONE: Final = re.compile(r"\+?\d{3,39}")


class PlainPhone(Func):
    """An order's phone number without separators. The index of migration 0020 has the same expression."""

    template = "{}customer_phone{}".format(
        "REPLACE(" * len(SEPARATORS), "".join(f", '{each}', '')" for each in SEPARATORS)
    )
    output_field = TextField()


@dataclass(frozen=True, slots=True)
class Person:
    """Either an e-mail address or a phone number, in one spelling; the other is empty."""

    email: str = ""
    phone: str = ""

    @classmethod
    def of(cls, *, email: str = "", phone: str = "") -> Self:
        """By what somebody typed. Raises `Invalid` unless it is exactly one address or one number."""
        email, phone = email.strip(), phone.strip()
        if bool(email) == bool(phone):
            raise Invalid.field("email", "Enter an e-mail address or a phone number, one of the two.")
        if phone:
            plain = plain_phone(phone)
            if not _PHONE.fullmatch(plain):
                raise Invalid.field("phone", "Enter a phone number such as +49 30 1234567.")
            return cls(phone=plain)
        try:
            validate_email(email)
        except ValidationError as error:
            raise Invalid.field("email", "Enter an e-mail address such as name@example.com.") from error
        return cls(email=email.lower())

    def __str__(self) -> str:
        return self.email or self.phone

    @property
    def fields(self) -> dict[str, str]:
        """What finds the person again."""
        return {"email": self.email} if self.email else {"phone": self.phone}


def plain_phone(text: str) -> str:
    """Without separators, and with a plus instead of a leading 00."""
    plain = text.translate(_DROPPED)
    return f"+{plain[2:]}" if plain.startswith("00") else plain


def orders_of(business: Business, person: Person) -> QuerySet[Order]:
    """All of the person's orders, newest first, with lines and payment."""
    rows = Order.objects.filter(business=business).select_related("payment", "business")
    rows = rows.prefetch_related(LINES).order_by("-id")
    if person.email:
        known = rows.alias(written=Lower(Trim("customer_email"))).exclude(customer_email="")
        return known.filter(written=person.email)
    written = [person.phone]
    if person.phone.startswith("+"):
        written.append(f"00{person.phone[1:]}")
    return rows.alias(plain=PlainPhone()).exclude(customer_phone="").filter(plain__in=written)


def reviews_of(business: Business, person: Person) -> QuerySet[Review]:
    """The reviews that came with the address, or from a browser with which the person has ordered. Newest first."""
    ordered = orders_of(business, person).exclude(cart_digest="").order_by().values("cart_digest")
    theirs: Any = Q(cart_digest__in=ordered) & ~Q(cart_digest="")
    rows = Review.objects.filter(business=business)
    if person.email:
        rows = rows.alias(written=Lower(Trim("author_email")))
        theirs |= Q(written=person.email) & ~Q(author_email="")
    return rows.filter(theirs).select_related("product").order_by("-id")


def open_order(business: Business, person: Person) -> Order | None:
    """The oldest of the person's orders that is neither delivered nor cancelled."""
    return orders_of(business, person).filter(status__in=OPEN).order_by("id").first()
