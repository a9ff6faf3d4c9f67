"""Serving the pictures of apps."""

from uuid import UUID

from django.http import FileResponse, Http404, HttpRequest
from django.views.decorators.http import require_safe

from marketplace.models import Picture

ONE_YEAR = 31_536_000  # seconds


@require_safe
def picture(request: HttpRequest, picture_id: UUID) -> FileResponse:
    """The bytes behind a picture's address, which never change: another picture has another address.

    They were written by us (`services.pictures`), and still get no right to do anything in a browser.
    """
    found = Picture.objects.filter(pk=picture_id, app__deleted_at=None).first()
    if found is None:
        raise Http404
    try:
        response = FileResponse(found.file.open(), content_type=found.content_type)
    except FileNotFoundError:
        raise Http404 from None
    response["Content-Disposition"] = "inline"
    response["Cache-Control"] = f"public, max-age={ONE_YEAR}, immutable"
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "cross-origin"  # stores are on other hosts
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response
