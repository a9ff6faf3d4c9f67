"""The frame of mails to the buyers and the merchants of a store: its name, its color and its logo."""

from typing import Final

from accounts.models import Business
from common.languages import ENGLISH
from common.mails.letters import LetterFrame
from stores import queries
from stores.addresses import store_origin, store_url
from stores.enums import Accent

# For light and for dark: as text and behind text. static/css/accents.css has the same, which a test compares.
ACCENTS: Final = {
    Accent.GRAPHITE: ("#22262d", "#e8ebf0"),
    Accent.INDIGO: ("#4252cd", "#a7bafe"),
    Accent.BLUE: ("#0465af", "#89c3fe"),
    Accent.TEAL: ("#067272", "#82cdcd"),
    Accent.GREEN: ("#057836", "#8bd19a"),
    Accent.OLIVE: ("#626a09", "#bcc587"),
    Accent.AMBER: ("#865900", "#e3b575"),
    Accent.ORANGE: ("#9e4500", "#fda578"),
    Accent.RED: ("#bb0916", "#ffa196"),
    Accent.PINK: ("#b0175f", "#fe9bba"),
    Accent.PURPLE: ("#7d3ab7", "#d0a9fd"),
    Accent.BROWN: ("#82583b", "#d9b69e"),
}


def merchant_frame(store: Business) -> LetterFrame:
    return store_frame(store, "You can choose which notices are mailed on the Notices page of your store.")


def store_frame(store: Business, note: str = "", language: str = ENGLISH) -> LetterFrame:
    """`note` is a line at the end, such as why one gets the mail. `language` is that of the whole mail."""
    look = queries.store_settings(store)
    logo = store_origin(store.slug) + look.logo.thumbnail_path if look.logo else ""
    accent = ACCENTS[Accent(look.accent)]
    name, url = " ".join(store.name.split()), store_url(store.slug)
    return LetterFrame(name, url, accent=accent, logo=logo, note=note, language=language)
