"""`/sdk/python/` for pip, `/sdk/node/` for npm. Both are for everybody, and for people to look at as well."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag

from common.web.methods import require_safe
from developers.sdks import packages

TYPES = {"python": "application/zip", "node": "application/gzip"}


@require_safe
def index(request: HttpRequest, registry: str) -> HttpResponse:
    """The packages with their hashes. For pip a list of projects (PEP 503) too."""
    found = packages.of_registry(registry)
    return render(request, f"developers/sdks/{registry}.html", {"packages": found})


@require_safe
def project(request: HttpRequest, name: str) -> HttpResponse:
    """One project of the index (PEP 503)."""
    package = packages.PACKAGES.get(name)
    if package is None or package.registry != "python":
        raise Http404
    return render(request, "developers/sdks/project.html", {"package": package})


@require_safe
def download(request: HttpRequest, registry: str, file: str) -> HttpResponse:
    found = next((each for each in packages.of_registry(registry) if each.file_name == file), None)
    if found is None:
        raise Http404
    etag = quote_etag(found.sha256)
    response = get_conditional_response(request, etag=etag) or HttpResponse(
        found.content(), content_type=TYPES[registry]
    )
    response["ETag"] = etag
    # A development version changes under the same name.
    response["Cache-Control"] = "public, no-cache"
    return response
