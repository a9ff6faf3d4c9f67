"""The public marketplace: the list of apps, and the page of each."""

from typing import Any, Final

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from accounts.models import User
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import require_safe
from common.web.pagination import page_request
from conformance.queries import not_passing_since
from extensions.enums import ExtensionType
from extensions.in_store.capabilities import Capability, offered_capabilities
from marketplace import listing
from marketplace.models import App, AppVersion
from marketplace.queries import own_apps
from marketplace.scopes import SCOPES, in_order
from merchants.access import sees_apps
from merchants.installed.cards import cards_of, install_panel
from merchants.marketplace.facts import measured_facts
from merchants.marketplace.forms import ListingForm

APPS_PER_PAGE: Final = 24
MORE_APPS: Final = 3


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    form = ListingForm(request.GET)
    is_valid = form.is_valid()
    wanted = form.wanted() if is_valid else listing.Wanted()
    page = page_request(request.GET, default=APPS_PER_PAGE, maximum=4 * APPS_PER_PAGE)
    categories = listing.categories(wanted)
    total = next(each.count for each in categories if each.value == wanted.category)
    context = {
        "form": form,
        "wanted": wanted,
        "page_request": page,
        "total": total,
        "apps": cards_of(listing.find(wanted)[page.window], request.user)
        if is_valid and page.offset < total
        else [],
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
