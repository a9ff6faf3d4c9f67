"""The public marketplace: the list of apps, and the page of each."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from accounts.models import Business, User
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import require_safe
from common.web.pagination import page_request
from conformance.queries import not_passing_since
from extensions.enums import ExtensionType
from extensions.hooks.health import health_of
from extensions.in_store.capabilities import Capability, offered_capabilities, open_requests
from extensions.models import HookCall, LiveDefinition
from installations.models import Installation
from installations.queries import businesses_to_install_on, has_store_without
from marketplace import listing
from marketplace.access import may_develop
from marketplace.enums import Category, Sort, Without
from marketplace.listing import Wanted, authorize_address
from marketplace.models import App, AppVersion
from marketplace.queries import own_apps
from marketplace.scopes import SCOPES, in_order
from merchants.access import sees_apps
from teststores.trials import stores_to_try_on
from webhooks.insight.analytics import thirty_days

Visitor = User | AnonymousUser
ENOUGH: Final = 100  # calls or deliveries; of fewer, a page claims nothing
APPS_PER_PAGE: Final = 24
MORE_APPS: Final = 3
ENOUGH_TO_FEATURE: Final = 4  # apps: of fewer, each is seen anyway


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    form = ListingForm(request.GET)
    is_valid = form.is_valid()
    wanted = form.wanted() if is_valid else listing.Wanted()
    page = page_request(request.GET, default=APPS_PER_PAGE, maximum=4 * APPS_PER_PAGE)
    categories = listing.categories(wanted)
    total = next(each.count for each in categories if each.value == wanted.category)
    cards = (
        cards_of(listing.find(wanted)[page.window], request.user) if is_valid and page.offset < total else []
    )
    featured = featured_of(cards) if is_valid and wanted == Wanted() and not page.offset else None
    context = {
        "form": form,
        "wanted": wanted,
        "page_request": page,
        "total": total,
        "featured": featured,
        "apps": cards[1:] if featured else cards,
        "categories": [(each, _query(request.GET, category=each.value)) for each in categories],
        "category": next((each for each in categories if each.value == wanted.category and each.value), None),
        "in_all_categories": categories[0].count,
        "is_narrowed": bool(wanted.words or wanted.without),
        "without_search": _query(request.GET, q=""),
    }
    return render(
        request, "merchants/marketplace/index.html", context, status=200 if is_valid else UNPROCESSABLE
    )


@require_safe
def app_page(request: HttpRequest, slug: str) -> HttpResponse:
    """An app's page; 404 for one that is not listed, for its developer too, whose portal shows it."""
    app = listing.listed().filter(slug=slug).first()
    if app is None:
        raise Http404("This app is not in the marketplace.")
    assert app.approved_version is not None
    others = list(listing.more_by_developer(app)[: MORE_APPS + 1])
    context = _page_of(app, app.approved_version) | {
        "panel": install_panel(app, request.user),
        "not_passing_since": not_passing_since(app),
        "more": cards_of(others[:MORE_APPS], request.user),
        "has_even_more": len(others) > MORE_APPS,
    }
    return render(request, "merchants/marketplace/app.html", context)


@require_safe
@login_required
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """The page as it would be with the working copy, for the app's developer; 404 for anybody else."""
    assert isinstance(request.user, User)
    app = listing.own(request.user, slug)
    return render(request, "merchants/marketplace/app.html", _page_of(app, app) | {"is_preview": True})


def _page_of(app: App, state: App | AppVersion) -> dict[str, Any]:
    capabilities, scopes = offered_capabilities(state), [SCOPES[name] for name in in_order(state.scopes)]
    return {
        "app": app,
        "version": state,
        "screenshots": listing.screenshots_of(state),
        "sensitive": [
            *(_in_short(each) for each in capabilities if each.is_sensitive),
            *(scope.sentence for scope in scopes if scope.sensitive),
        ],
        "access": [scope.sentence for scope in scopes if not scope.sensitive],
        "at_checkout": [each for each in capabilities if each.type == ExtensionType.HOOK],
        "elsewhere": [each for each in capabilities if each.type != ExtensionType.HOOK],
        "facts": measured_facts(app, capabilities),
    }


def _in_short(capability: Capability) -> str:
    """Scripts have names of their developer's choice, which say little."""
    is_script = capability.type == ExtensionType.EMBED
    return f"Runs a script on every page: {capability.title}" if is_script else capability.title


def _query(query: QueryDict, **changes: str) -> str:
    """The address's query on its first page, with the changes; what is empty is left out."""
    kept = query.copy()
    kept.pop("page", None)
    for name, value in changes.items():
        kept[name] = value
    filled = [(name, value) for name, values in kept.lists() for value in values if value]
    result = QueryDict(mutable=True)
    for name, value in filled:
        result.appendlist(name, value)
    return f"?{result.urlencode()}"


APPS_AT_HOME = 4


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    user = request.user
    context = {
        "search": ListingForm()["q"],
        "apps": cards_of(listing.find(listing.Wanted())[:APPS_AT_HOME], user),
        "sees_apps": isinstance(user, User) and user.is_merchant and sees_apps(request),
        "latest_app": own_apps(user).first() if isinstance(user, User) and user.is_developer else None,
    }
    return render(request, "home.html", context)


class ListingForm(forms.Form):
    q = forms.CharField(
        label="Search apps",
        required=False,
        max_length=100,
        widget=forms.TextInput(
            {"type": "search", "autocomplete": "off", "placeholder": "Name, purpose or developer"}
        ),
    )
    category = forms.ChoiceField(required=False, choices=Category.choices, widget=forms.HiddenInput)
    sort = forms.ChoiceField(label="Sort by", required=False, choices=Sort.choices)
    without = forms.MultipleChoiceField(
        label="Data access",
        required=False,
        choices=Without.choices,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for field in self.fields.values():
            field.widget.attrs["form"] = "listing"

    def wanted(self) -> Wanted:
        chosen = self.cleaned_data
        return Wanted(
            words=chosen["q"],
            category=chosen["category"],
            without=tuple(chosen["without"]),
            sort=chosen["sort"] or Sort.INSTALLS,
        )


@dataclass(frozen=True, slots=True)
class Fact:
    """`share` is like "99.2%"; `detail` completes the sentence: of which answers, and how long they took."""

    name: str
    share: str
    detail: str


def measured_facts(app: App, capabilities: Iterable[Capability]) -> list[Fact]:
    """Checkout calls of the last 7 days and webhooks of the last 30, of production installs. At most two statements."""
    hooks = [ident for each in capabilities if each.type == ExtensionType.HOOK for ident in each.definitions]
    return [*_at_checkout(hooks), *_updates(app)]


def _at_checkout(hooks: list[UUID]) -> Iterable[Fact]:
    if not hooks:
        return
    calls = HookCall.objects.filter(
        definition__in=hooks, installation__is_test=False, installation__business__is_sandbox=False
    )
    health = health_of(calls)
    if health.asked >= ENOUGH:
        usual = f", usually within {_seconds(health.p50)}" if health.p50 is not None else ""
        detail = f"of its calls at checkout answered in the last 7 days{usual}"
        yield Fact("Checkout", _percent(1 - health.share_failed), detail)


def _updates(app: App) -> Iterable[Fact]:
    figures = thirty_days(app)
    if figures.success_rate is not None and figures.successful + figures.failed >= ENOUGH:
        average = figures.average_latency_ms
        time = f", in {_seconds(average)} on average" if average is not None else ""
        detail = f"of updates from stores received in the last 30 days{time}"
        yield Fact("Updates", _percent(figures.success_rate), detail)


def _percent(share: float) -> str:
    """Rounded down, so that only all of them are 100%."""
    tenths = math.floor(share * 1000) / 10
    return f"{tenths:g}%"


def _seconds(milliseconds: float) -> str:
    return f"{max(0.1, milliseconds / 1000):.1f} s"


# What the marketplace shows of an app to the person who looks: on its card, and beside the install button.


@dataclass(frozen=True, slots=True)
class Card:
    """A listed app. `is_installed`: on one of the person's stores."""

    app: App
    is_installed: bool
    works_at_checkout: bool


def cards_of(apps: Iterable[App], user: Visitor) -> list[Card]:
    """Two statements for any number of apps."""
    apps = list(apps)
    installed: set[UUID] = set()
    if isinstance(user, User):
        own = Installation.objects.active().filter(business__in=businesses_to_install_on(user), app__in=apps)
        installed = set(own.values_list("app_id", flat=True))
    hooks = LiveDefinition.objects.filter(
        version__in=[each.approved_version_id for each in apps],
        definition__type=ExtensionType.HOOK,
    )
    asked = set(hooks.values_list("version_id", flat=True))
    return [Card(each, each.pk in installed, each.approved_version_id in asked) for each in apps]


@dataclass(frozen=True, slots=True)
class Featured:
    card: Card
    picture: listing.Screenshot


def featured_of(cards: Sequence[Card]) -> Featured | None:
    """The first of a row of apps, if it has a picture: that is the most installed one. One statement."""
    if len(cards) < ENOUGH_TO_FEATURE:
        return None
    assert cards[0].app.approved_version is not None
    pictures = listing.screenshots_of(cards[0].app.approved_version)
    return Featured(cards[0], pictures[0]) if pictures else None


@dataclass(frozen=True, slots=True)
class InstallPanel:
    """`installations` are the person's, `asking` the ids of those with an open request; `may_install`: on one more store. `tries_on`:
    the stores on a copy of which the person may try it.
    """

    installations: list[Installation]
    asking: Collection[UUID]
    may_install: bool
    is_own: bool
    authorize_address: str
    tries_on: list[Business]


def install_panel(app: App, user: Visitor) -> InstallPanel:
    """A test install of the developer's own app uses the working copy and its Redirect URL (contract, section 3). Visitors are
    asked to sign in on the way.
    """
    assert app.approved_version is not None, "only listed apps have an install panel"
    installations: list[Installation] = []
    if isinstance(user, User):
        own = Installation.objects.active().with_app().defer("webhook_secret")
        installations = list(own.filter(app=app, business__in=businesses_to_install_on(user)))
    is_own = may_develop(app, user)
    return InstallPanel(
        installations=installations,
        asking=open_requests(installations),
        may_install=not isinstance(user, User) or has_store_without(installations, user),
        is_own=is_own,
        authorize_address=authorize_address(
            app, redirect_url=app.redirect_url if is_own else app.approved_version.redirect_url
        ),
        tries_on=list(stores_to_try_on(app, user)) if isinstance(user, User) and user.is_merchant else [],
    )
