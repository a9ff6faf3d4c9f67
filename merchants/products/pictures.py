"""Serving the pictures of apps, products and stores."""

from uuid import UUID

from django.db.models.fields.files import FieldFile
from django.http import FileResponse, Http404, HttpRequest

from common.web.methods import require_safe
from marketplace.models import Picture
from stores.services.catalogue.pictures import picture_by_id

ONE_YEAR = 31_536_000  # seconds


@require_safe
def picture(request: HttpRequest, picture_id: UUID) -> FileResponse:
    """An app's icon or screenshot."""
    found = Picture.objects.filter(pk=picture_id, app__deleted_at=None).first()
    if found is None:
        raise Http404
    return _served(found.file, found.content_type)


@require_safe
def store_picture(request: HttpRequest, picture_id: UUID, *, small: bool = False) -> FileResponse:
    """A picture of a product or a store, or its thumbnail."""
    found = picture_by_id(picture_id)
    if found is None:
        raise Http404
    return _served(found.thumbnail if small else found.file, found.content_type)


def _served(file: FieldFile, content_type: str) -> FileResponse:
    """The bytes behind a picture's address, which never change: another picture has another address.

    They were written by us (`common.files.pictures`), and still get no right to do anything in a browser.
    """
    try:
        response = FileResponse(file.open(), content_type=content_type)
    except FileNotFoundError:
        raise Http404 from None
    response["Content-Disposition"] = "inline"
    response["Cache-Control"] = f"public, max-age={ONE_YEAR}, immutable"
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "cross-origin"  # stores are on other hosts
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response
