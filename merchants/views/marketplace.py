"""The public marketplace: the list of apps, and the page of each."""

from typing import Final

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from common.web.pagination import page_request
from marketplace import listing
from merchants.marketplace_forms import ListingForm

UNPROCESSABLE: Final = 422
APPS_PER_PAGE: Final = 24


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
        "apps": list(listing.find(wanted)[page.window]) if is_valid and page.offset < total else [],
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
    return render(request, "merchants/marketplace/app.html", {"app": app, "version": app.approved_version})


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
    context = {"search": ListingForm()["q"], "apps": list(listing.find(listing.Wanted())[:APPS_AT_HOME])}
    return render(request, "home.html", context)
