"""One search over all that a person may open: apps, orders, things by id, pages and the documentation."""

from collections.abc import Iterator
from itertools import chain, groupby
from operator import attrgetter

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.models import User
from common.web.forms.kept import signed_in
from common.web.found import MOST, Found
from common.web.methods import require_safe
from developers.docs.search import search as search_docs
from developers.portal.search import in_portal
from developers.review.search import in_review
from merchants.search import in_marketplace, in_stores

LONGEST = 100  # characters


@require_safe
@signed_in
def search_page(request: HttpRequest) -> HttpResponse:
    """`?q=` finds. With `part` the answer is the list alone, for the box in the top bar."""
    text = " ".join(request.GET.get("q", "").split())[:LONGEST]
    found = list(_found(request.user, text.removeprefix("#"))) if text else []  # type: ignore[arg-type]
    kinds = [(kind, list(rows)) for kind, rows in groupby(found, key=attrgetter("kind"))]
    template = "search_results.html" if "part" in request.GET else "search.html"
    return render(request, template, {"query": text, "kinds": kinds})


def _found(person: User, text: str) -> Iterator[Found]:
    return chain(
        in_portal(person, text),
        in_stores(person, text),
        in_review(person, text),
        in_marketplace(text),
        _in_docs(text),
    )


def _in_docs(text: str) -> Iterator[Found]:
    for each in search_docs(text, MOST):
        section = each.section
        yield Found("Documentation", section.name, section.trail, section.url, "book-open")
