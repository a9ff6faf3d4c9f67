"""Finding orders by what their merchant knows of them: number, or the customer's name, e-mail address or phone number."""

from typing import Any, Final

from django.db.models import F, Func, Q, TextField

from common.contacts import NotAContact, email_key, kept_phone_key

FEWEST_DIGITS: Final = 5  # of a search for a phone number; what is shorter may be an order's


class SearchText(Func):
    """The text of an order that a search looks into. The index of migration 0028 has the same expression.

    It has address and number as they were typed and in their normal forms, which a row of the version before lacks.
    """

    template = (
        "(%(expressions)s || ' ' || COALESCE(customer_email_key, '') || ' ' || customer_phone || ' ' || "
        "COALESCE(customer_phone_key, REPLACE(REPLACE(REPLACE(customer_phone, ' ', ''), '-', ''), '.', '')))"
    )
    arg_joiner = " || ' ' || "
    output_field = TextField()

    def __init__(self, **extra: Any) -> None:
        super().__init__(F("number"), F("customer_name"), F("customer_email"), **extra)


def matching(text: str) -> Q:
    """For orders annotated with `found_in=SearchText()`: every word is in it. A number or an address is found in any spelling."""
    if number := _phone(text):
        return Q(found_in__finds=number)
    return Q(*map(_has, text.removeprefix("#").split()))


def plain_words(text: str) -> list[str]:
    """What `matching` looks for, where it is neither a phone number nor an e-mail address; else nothing."""
    return [] if "@" in text or _phone(text) else text.removeprefix("#").split()


def _phone(text: str) -> str:
    """The normal form of a text that is a phone number, or a part of one, and nothing else; else empty."""
    number = kept_phone_key(text)
    is_alone = (
        len(number.lstrip("+")) >= FEWEST_DIGITS and not any(map(str.isalpha, text)) and "#" not in text
    )
    return number if is_alone else ""


def _has(word: str) -> Q:
    try:
        return Q(found_in__finds=word) | Q(found_in__finds=email_key(word))
    except NotAContact:
        return Q(found_in__finds=word)
