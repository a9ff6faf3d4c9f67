"""A store's customers. There are no accounts: a person is one e-mail address or one phone number (contract, section 12)."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Self

from django.db.models import Model, Q, QuerySet, UUIDField

from accounts.models import Business
from common.contacts import NotAContact, email_key, kept_email_key, kept_phone_key, phone_key
from common.db.compiled import Compiled, Param
from common.db.fields import complete
from common.errors import Invalid
from stores.enums import OPEN
from stores.models import LINES, Order, Review

ONE_OF_TWO: Final = "Enter an e-mail address or a phone number, one of the two."


@dataclass(frozen=True, slots=True)
class Person:
    """The normal form of either an e-mail address or a phone number (`common.contacts`); the other is empty."""

    email: str = ""
    phone: str = ""

    @classmethod
    def of(cls, *, email: str = "", phone: str = "", store: Business | None = None) -> Self:
        """By what somebody typed. Raises `Invalid` unless it is exactly one address or one number.

        An address of before there was the rule, with a quoted local part, say, still finds what `store` has of it.
        """
        email, phone = email.strip(), phone.strip()
        if bool(email) == bool(phone):
            raise Invalid.field("email", ONE_OF_TWO)
        try:
            return cls(email=email_key(email)) if email else cls(phone=phone_key(phone))
        except NotAContact as error:
            before = cls(email=kept_email_key(email))
            if email and store and not error.is_hidden and _is_known(store, before):
                return before
            raise Invalid.field("email" if email else "phone", str(error.message)) from error

    def __str__(self) -> str:
        return self.email or self.phone

    @property
    def fields(self) -> dict[str, str]:
        """What finds the person again."""
        return {"email": self.email} if self.email else {"phone": self.phone}


def orders_of(business: Business, person: Person) -> QuerySet[Order]:
    """All of the person's orders, newest first, with lines and payment."""
    rows = Order.objects.filter(business=business).select_related("payment", "business")
    rows = rows.prefetch_related(LINES).order_by("-id")
    column = "customer_email" if person.email else "customer_phone"
    return rows.filter(_with_key(Order, business, column, str(person)))


def reviews_of(business: Business, person: Person) -> QuerySet[Review]:
    """The reviews that came with the address, or from a browser with which the person has ordered. Newest first."""
    ordered = orders_of(business, person).exclude(cart_digest="").order_by().values("cart_digest")
    theirs: Any = Q(cart_digest__in=ordered) & ~Q(cart_digest="")
    rows = Review.objects.filter(business=business)
    if person.email:
        theirs |= _with_key(Review, business, "author_email", person.email)
    return rows.filter(theirs).select_related("product").order_by("-id")


def _with_key(model: type[Model], business: Business, column: str, key: str) -> Q:
    """Those whose column has this normal form. `__gt` lets PostgreSQL use the index, which leaves out the empty ones.

    Rows that a process of the version before has written have no key yet. They are few, and read one by one.
    """
    found = Q((f"{column}_key", key), (f"{column}_key__gt", ""))
    key_of: Any = model._meta.get_field(f"{column}_key")
    keyless = _keyless(model, column).rows(business=business.pk)
    written = [pk for pk, typed in keyless if key_of.key(typed) == key]
    return found | Q(pk__in=written) if written else found


@cache
def _keyless(model: Any, column: str) -> Compiled[Any]:
    rows = model.objects.filter((f"{column}_key", None), business=Param("business", UUIDField()))
    return Compiled(lambda: rows.values_list("pk", column), prepared_as=f"stores_without_{column}_key")


def _is_known(store: Business, person: Person) -> bool:
    return orders_of(store, person).exists() or reviews_of(store, person).exists()


def open_order(business: Business, person: Person) -> Order | None:
    """The oldest of the person's orders that is neither delivered nor cancelled."""
    return orders_of(business, person).filter(status__in=OPEN).order_by("id").first()


def complete_keys() -> int:
    """Returns how many rows got theirs. Safe to repeat."""
    done = complete(Order, {"customer_email": kept_email_key, "customer_phone": kept_phone_key})
    return done + complete(Review, {"author_email": kept_email_key})
