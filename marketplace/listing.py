"""Finds and sorts the apps of the public marketplace.

It only reads the newest approved version of an app, never the working copy (contract, section 2).
"""

from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Case, Count, IntegerField, Q, TextField, When
from django.db.models.functions import Cast, Coalesce, Lower
from django.db.models.query import QuerySet

from accounts.models import User
from common import places
from common.db.rows import first_or_not_found
from common.places import Work
from marketplace.enums import Category, Sort, Without
from marketplace.models import App, AppFields, Picture, picture_path
from marketplace.scopes import SCOPES

AUTHORIZE_PATH: Final = "/oauth/authorize"
MOST_WORDS: Final = 10  # of a search; further ones are ignored

# The scopes that exclude an app. Orders name the customer, also in responses to changes, and reviews their author.
WITHOUT_SCOPES: Final[dict[str, tuple[str, ...]]] = {
    Without.CUSTOMERS: ("read_orders", "write_orders", "read_reviews"),
    Without.CHANGES: tuple(scope.name for scope in SCOPES.values() if scope.writes),
}
SEARCHED: Final = (
    "approved_version__name",
    "approved_version__description",
    "approved_version__developer_name",
)
ORDER: Final[dict[str, tuple[str, ...]]] = {
    Sort.INSTALLS: ("-installs", "lower_name"),
    Sort.UPDATED: ("-approved_version__approved_at",),
    Sort.NAME: ("lower_name",),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A visitor's search. The default finds everything."""

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
    """Every app of the marketplace with the data of its card; `installs` is the number of stores that have it."""
    return _with_card(App.objects.listed())


def own(developer: User, slug: str) -> App:
    """A developer's own app in any status, with the data of its card, for a preview. Raises `NotFound`."""
    own_apps = _with_card(App.objects.of(developer))
    return first_or_not_found(own_apps.filter(slug=slug), "App not found")


def more_by_developer(app: App) -> QuerySet[App]:
    """The developer's other listed apps, the most installed first."""
    others = _with_card(App.objects.listed().owned_by(app.developer_id)).exclude(pk=app.pk)
    return others.order_by(*ORDER[Sort.INSTALLS], "pk")


@dataclass(frozen=True, slots=True)
class Screenshot:
    path: str
    alt: str
    width: int
    height: int


def screenshots_of(state: AppFields) -> list[Screenshot]:
    """With their size, so that pages don't jump. One query; none without screenshots."""
    if not state.screenshot_ids:
        return []
    found = Picture.objects.in_bulk([UUID(each) for each in state.screenshot_ids])
    pictures = [found[UUID(each)] for each in state.screenshot_ids if UUID(each) in found]
    total = len(pictures)
    return [
        Screenshot(
            path=picture_path(each.pk),
            alt=state.alt_texts.get(str(each.pk)) or f"Picture {number} of {total} of {state.name}",
            width=each.width,
            height=each.height,
        )
        for number, each in enumerate(pictures, start=1)
    ]


def find(wanted: Wanted) -> QuerySet[App]:
    """The matching apps in the requested order. In a search, apps with the words in their name come first."""
    found = _with_card(_matching(wanted))
    if wanted.category:
        found = found.filter(approved_version__category=wanted.category)
    if not wanted.words:
        return found.order_by(*ORDER[wanted.sort], "pk")
    named = When(_has_words(wanted.words, ("approved_version__name",)), then=0)
    found = found.annotate(otherwise=Case(named, default=1, output_field=IntegerField()))
    return found.order_by("otherwise", *ORDER[wanted.sort], "pk")


def categories(wanted: Wanted) -> list[CategoryCount]:
    """ "All apps" and each category, with the number of apps that match the rest of the search."""
    rows = _matching(wanted).order_by().values_list("approved_version__category")
    counts: dict[str, int] = dict(rows.annotate(Count("pk")))
    each = [CategoryCount(value, str(label), counts.get(value, 0)) for value, label in Category.choices]
    each.sort(key=lambda category: not category.count)
    return [CategoryCount("", "All apps", sum(counts.values())), *each]


def authorize_address(app: App, *, redirect_url: str, business_id: UUID | None = None) -> str:
    """The URL of **Install**, which starts the OAuth flow of an app, in one store if it is given.

    It has no `state`, because only the app could check that. An app that requires one starts its own flow when a code
    arrives without it.
    """
    query = {"response_type": "code", "client_id": app.client_id, "redirect_uri": redirect_url}
    if business_id is not None:
        query["business_id"] = str(business_id)
    return f"{AUTHORIZE_PATH}?{urlencode(query)}"


def _with_card(apps: QuerySet[App]) -> QuerySet[App]:
    return apps.select_related("approved_version", "developer").annotate(
        installs=Coalesce("totals__installs", 0), lower_name=Lower("approved_version__name")
    )


def _matching(wanted: Wanted) -> QuerySet[App]:
    """The apps that match the search, in any category."""
    apps = App.objects.listed().filter(_has_words(wanted.words, SEARCHED))
    forbidden = {scope for value in wanted.without for scope in WITHOUT_SCOPES[value]}
    if not forbidden:
        return apps
    # As text, because SQLite can't query the contents of a JSON array. Scope names contain no quotation marks.
    apps = apps.annotate(scopes_text=Cast("approved_version__scopes", TextField()))
    return apps.exclude(reduce(or_, (Q(scopes_text__contains=f'"{scope}"') for scope in forbidden)))


def _has_words(text: str, fields: tuple[str, ...]) -> Q:
    """Each word appears in one of the fields, possibly as part of a longer word."""
    words = text.split()[:MOST_WORDS]
    if words:
        places.require(Work.SEARCH)
    return reduce(and_, (_in_any(word, fields) for word in words), Q())


def _in_any(word: str, fields: tuple[str, ...]) -> Q:
    return reduce(or_, (Q((f"{field}__finds", word)) for field in fields))
