"""The public marketplace: which apps it shows, found and ordered as a visitor asks.

All of it reads the newest approved version of an app, never the working copy (contract section 2, "Status of
an app that changes after approval").
"""

from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Final
from urllib.parse import urlencode

from django.db.models import Case, Count, IntegerField, Q, TextField, When
from django.db.models.functions import Cast, Coalesce, Lower
from django.db.models.query import QuerySet

from marketplace.enums import Category, Sort, Without
from marketplace.models import App
from marketplace.scopes import SCOPES

AUTHORIZE_PATH: Final = "/oauth/authorize"
MOST_WORDS: Final = 10  # of a search that are looked for

# The scopes that an app must not have. An order names the customer, and its changes are answered with the
# order; a review names its author.
WITHOUT_SCOPES: Final[dict[str, tuple[str, ...]]] = {
    Without.CUSTOMERS: ("read_orders", "write_orders", "read_reviews"),
    Without.CHANGES: tuple(scope.name for scope in SCOPES.values() if scope.writes),
}
SEARCHED: Final = ("approved_version__name", "approved_version__description", "developer__name")
ORDER: Final[dict[str, tuple[str, ...]]] = {
    Sort.INSTALLS: ("-installs", "lower_name"),
    Sort.UPDATED: ("-approved_version__approved_at",),
    Sort.NAME: ("lower_name",),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a visitor looks for; the empty one is everything."""

    words: str = ""
    category: str = ""
    without: tuple[str, ...] = ()
    sort: str = Sort.INSTALLS


@dataclass(frozen=True, slots=True)
class CategoryCount:
    value: str  # empty for all categories
    label: str
    count: int


def listed() -> QuerySet[App]:
    """Every app of the marketplace with what a card shows; `installs` is how many shops have it."""
    return _with_card(App.objects.listed())


def find(wanted: Wanted) -> QuerySet[App]:
    """The apps that fit, in the order asked for; of a search, those that have its words in their name first."""
    found = _with_card(_matching(wanted))
    if wanted.category:
        found = found.filter(approved_version__category=wanted.category)
    if not wanted.words:
        return found.order_by(*ORDER[wanted.sort], "pk")
    named = When(_has_words(wanted.words, ("approved_version__name",)), then=0)
    found = found.annotate(otherwise=Case(named, default=1, output_field=IntegerField()))
    return found.order_by("otherwise", *ORDER[wanted.sort], "pk")


def categories(wanted: Wanted) -> list[CategoryCount]:
    """All of them, then each of the nine, with how many of its apps fit the rest of what is wanted."""
    rows = _matching(wanted).order_by().values_list("approved_version__category")
    counts: dict[str, int] = dict(rows.annotate(Count("pk")))
    each = [CategoryCount(value, str(label), counts.get(value, 0)) for value, label in Category.choices]
    return [CategoryCount("", "All apps", sum(counts.values())), *each]


def authorize_address(app: App, *, redirect_url: str) -> str:
    """Where **Install** leads: the start of the OAuth flow for an app.

    It carries no `state`, which only the app could check: an app that insists on one starts a flow of its own
    when a code arrives without.
    """
    query = {"response_type": "code", "client_id": app.client_id, "redirect_uri": redirect_url}
    return f"{AUTHORIZE_PATH}?{urlencode(query)}"


def _with_card(apps: QuerySet[App]) -> QuerySet[App]:
    return apps.select_related("approved_version", "developer").annotate(
        installs=Coalesce("totals__installs", 0), lower_name=Lower("approved_version__name")
    )


def _matching(wanted: Wanted) -> QuerySet[App]:
    """The apps that fit what is wanted, whatever their category."""
    apps = App.objects.listed().filter(_has_words(wanted.words, SEARCHED))
    forbidden = {scope for value in wanted.without for scope in WITHOUT_SCOPES[value]}
    if not forbidden:
        return apps
    # As text, since SQLite can't ask what a JSON array contains. A scope's name holds no quotation mark.
    apps = apps.annotate(scopes_text=Cast("approved_version__scopes", TextField()))
    return apps.exclude(reduce(or_, (Q(scopes_text__contains=f'"{scope}"') for scope in forbidden)))


def _has_words(text: str, fields: tuple[str, ...]) -> Q:
    """Each word stands in one of the fields, or is a part of a word there."""
    words = text.split()[:MOST_WORDS]
    return reduce(and_, (_in_any(word, fields) for word in words), Q())


def _in_any(word: str, fields: tuple[str, ...]) -> Q:
    return reduce(or_, (Q((f"{field}__icontains", word)) for field in fields))
