"""One search over all that a person may open: apps, orders, things by id, pages and the documentation."""

from collections.abc import Iterator
from itertools import chain, groupby
from operator import attrgetter

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.models import User
from common.web.found import MOST, Found
from common.web.methods import require_safe
from developers.docs.search import search as search_docs
from developers.portal.search import in_portal
from developers.review.search import in_review
from merchants.search import in_marketplace, in_stores

LONGEST = 100  # characters
MOST_OF_DOCS = 8  # where the documentation is searched first


@require_safe
def search_page(request: HttpRequest) -> HttpResponse:
    """`?q=` finds. With `part` the answer is the list alone, for the search box, and with `docs` the documentation comes first.

    Strangers find the documentation and the marketplace.
    """
    text = " ".join(request.GET.get("q", "").split())[:LONGEST]
    found = list(_found(request.user, text.removeprefix("#"), "docs" in request.GET)) if text else []
    kinds = [(kind, list(rows)) for kind, rows in groupby(found, key=attrgetter("kind"))]
    template = "search_results.html" if "part" in request.GET else "search.html"
    return render(request, template, {"query": text, "kinds": kinds})


def _found(person: User | AnonymousUser, text: str, docs_first: bool) -> Iterator[Found]:
    if docs_first:
        yield from _in_docs(text, MOST_OF_DOCS)
    if isinstance(person, User):
        yield from chain(in_portal(person, text), in_stores(person, text), in_review(person, text))
    yield from in_marketplace(text)
    if not docs_first:
        yield from _in_docs(text, MOST)


def _in_docs(text: str, most: int) -> Iterator[Found]:
    for each in search_docs(text, most):
        section = each.section
        yield Found("Documentation", section.name, section.trail, section.url, "book-open")
