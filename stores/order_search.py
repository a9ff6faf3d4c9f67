"""Finding orders by what their merchant knows of them: number, or the customer's name, e-mail address or phone number."""

import re
from typing import Any, Final

from django.db.models import F, Func, Q, TextField

PHONE: Final = re.compile(r"[+(]?\d[\d\s().\-/]{4,}")
_PUNCTUATION: Final = re.compile(r"[\s().\-/]")


class SearchText(Func):
    """The text of an order that a search looks into. The index of migration 0012 has the same expression."""

    template = (
        "(%(expressions)s || ' ' || "
        "REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(customer_phone, ' ', ''), '-', ''), '.', ''), "
        "'/', ''), '(', ''), ')', ''))"
    )
    arg_joiner = " || ' ' || "
    output_field = TextField()

    def __init__(self, **extra: Any) -> None:
        super().__init__(F("number"), F("customer_name"), F("customer_email"), **extra)


def matching(text: str) -> Q:
    """For orders annotated with `found_in=SearchText()`: every word is in it. Spaces and hyphens in a phone number don't matter."""
    compact = _PUNCTUATION.sub("", text)
    words = [compact] if PHONE.fullmatch(text) else text.removeprefix("#").split()
    return Q(*(Q(found_in__icontains=word) for word in words))
