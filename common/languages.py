"""The languages in which a store speaks to its shoppers. All else is in English, which is active unless something here says otherwise.

Texts are marked for Django's `gettext`, and `locale/` has their translations (`tools/catalogs.py`).
"""

from contextlib import AbstractContextManager
from typing import Final

from babel.numbers import format_decimal
from django.conf import settings
from django.utils import translation

ENGLISH: Final = "en"
PSEUDO: Final = (
    "en-XA"  # English with accents, and longer: shows with DEBUG which texts can't be translated yet
)


def language_of(locale: str) -> str:
    """The language of the texts for a locale: `de` for `de-CH`. English if there are none."""
    known = [code for code, _ in settings.LANGUAGES]
    return next((tag for tag in (locale, locale.partition("-")[0]) if tag in known), ENGLISH)


def speaking(language: str) -> AbstractContextManager[None]:
    """Texts and numbers are in this language within the block, and as before after it, also after an exception."""
    return translation.override(language)


def active_language() -> str:
    return translation.get_language() or ENGLISH


def whole(number: int) -> str:
    """`1,204`, in the form of the active language: `1.204` in German."""
    language = active_language()
    return f"{number:,}" if language.startswith(ENGLISH) else format_decimal(number, locale=language)
