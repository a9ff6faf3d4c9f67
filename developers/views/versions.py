"""The approved versions of an app, what each changed, and what the draft would change."""

from dataclasses import dataclass
from itertools import pairwise

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from common.pages import PageRequest, page_request
from developers.queries import rollout
from developers.views.access import app_page
from developers.views.reviews import sentences
from marketplace.differences import Difference, differences
from marketplace.models import App, AppVersion
from marketplace.queries import versions_of
from marketplace.scopes import Scope


@dataclass(frozen=True, slots=True)
class Release:
    """An approved version, and what it changed; the first one changed nothing."""

    version: AppVersion
    is_first: bool
    scopes: list[Scope]
    differences: list[Difference]


@require_safe
@app_page
def version_list(request: HttpRequest, app: App) -> HttpResponse:
    wanted = page_request(request.GET, default=10, maximum=50)
    live = app.approved_version
    context = {
        "app": app,
        "releases": _releases(app, wanted),
        "total": app.versions.count(),
        "page_request": wanted,
        "draft": differences(live, app) if live else [],
        "rollout": rollout(app) if live else None,
    }
    return render(request, "developers/versions.html", context)


def _releases(app: App, wanted: PageRequest) -> list[Release]:
    """Those of the page; the one before its last is read too, to compare with."""
    rows = list(versions_of(app)[wanted.offset : wanted.offset + wanted.limit + 1])
    before = dict(pairwise(rows))
    return [
        Release(
            version=version,
            is_first=version not in before,
            scopes=sentences(version.scopes),
            differences=differences(before[version], version) if version in before else [],
        )
        for version in rows[: wanted.limit]
    ]
