"""An app's approved versions: what each changed, and restoring an earlier one."""

from dataclasses import dataclass
from itertools import pairwise

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from common.db.finders import first_or_not_found
from common.errors import ServiceError
from common.web.methods import GET_OR_POST, require_safe
from common.web.pagination import PageRequest, page_request
from developers.portal.access import app_page, current_developer
from developers.portal.release.progress import rollout
from extensions.manifest.differences import manifest_differences
from extensions.models import ApprovedManifest
from extensions.queries import approved_manifest, manifest_document
from extensions.services.versions import restore_version, why_not_restored
from marketplace.differences import Difference, differences
from marketplace.models import App, AppVersion
from marketplace.queries import versions_of
from marketplace.scopes import SCOPES, Scope


@dataclass(frozen=True, slots=True)
class ApprovedRelease:
    """An approved version, and what it changed in the app and in its manifest."""

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
        "draft": _draft(app, live) if live else [],
        "rollout": rollout(app) if live else None,
    }
    return render(request, "developers/portal/release/versions.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def version_restore(request: HttpRequest, app: App, number: int) -> HttpResponse:
    """Shows what restoring changes, and asks; or says why the version can't be restored."""
    version = first_or_not_found(app.versions.filter(number=number), "Version not found")
    if request.method == "POST":
        try:
            restore_version(app=app, developer=current_developer(request), number=number)
        except ServiceError as error:
            messages.error(request, error.message)
        else:
            messages.success(request, f"Version {version.version} is live again.")
        return redirect("portal:versions", app.slug)
    context = {
        "app": app,
        "version": version,
        "problem": why_not_restored(app, version),
        "differences": [
            *differences(app, version),
            *manifest_differences(manifest_document(app), approved_manifest(version)),
        ],
    }
    return render(request, "developers/portal/release/version_restore.html", context)


def _draft(app: App, live: AppVersion) -> list[Difference]:
    """What the next version would change."""
    return [
        *differences(live, app),
        *manifest_differences(approved_manifest(live), manifest_document(app)),
    ]


def _releases(app: App, wanted: PageRequest) -> list[ApprovedRelease]:
    """The page's versions. One more is read, to compare the last one with it."""
    rows = list(versions_of(app)[wanted.offset : wanted.offset + wanted.limit + 1])
    before = dict(pairwise(rows))
    manifests = dict(ApprovedManifest.objects.filter(version__in=rows).values_list("version_id", "document"))
    releases = []
    for version in rows[: wanted.limit]:
        earlier = before.get(version)
        changed = differences(earlier, version) if earlier else []
        was = manifests.get(earlier.pk, {}) if earlier else {}
        changed = [*changed, *manifest_differences(was, manifests.get(version.pk, {}))]
        scopes = [SCOPES[name] for name in version.scopes]
        releases.append(ApprovedRelease(version, earlier is None, scopes, changed))
    return releases
