"""What apps read in bulk: exports with their files, and the feed of events."""

import re
from typing import Any

import orjson
from django.conf import settings
from django.http import FileResponse, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from appapi import serializers
from appapi.models import Export, ExportResource, ExportStatus
from appapi.services.exports import SCOPES, export_of, files, request_export
from appapi.views.base import AppApiView
from common.errors import Coded, Gone, NotFound, RangeNotSatisfiable
from common.rest.schema import problem
from common.times import iso
from installations.limits import EVENTS_A_PAGE
from marketplace.scopes import SCOPE_OF_EVENT, in_order
from webhooks.catalogue import SUBSCRIBABLE
from webhooks.feed import FeedEvent, read_feed

RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)
PART = OpenApiParameter(
    "Range",
    {"type": "string", "examples": ["bytes=0-1023"]},
    OpenApiParameter.HEADER,
    description="A part of the file, to go on with an interrupted download. Send the ETag as `If-Range` with it.",
)


class ExportView(AppApiView):
    tag = "Exports"
    required_scope = None  # that of the list: `services.exports` requires it
    path_fields = {"export_id": serializers.ExportId()}

    def export(self, export_id: str) -> Export:
        export = export_of(self.installation, export_id, now=timezone.now())
        self.uses(SCOPES[ExportResource(export.resource)])
        return export


class ExportList(ExportView):
    @extend_schema(
        "createExport",
        request=serializers.ExportBody,
        responses={
            202: OpenApiResponse(serializers.RequestedExportSerializer, "A worker makes the file."),
            403: problem("The token lacks the scope of the list."),
            409: problem("Another export of this installation is being made."),
        },
    )
    def post(self, request: Request) -> Response:
        """Export all products or orders.

        Needs the scope of the list. The file holds what the list would return, as it is at one moment.
        """
        body = self.read(serializers.ExportBody)
        export = request_export(installation=self.installation, resource=body["resource"])
        self.uses(SCOPES[body["resource"]])
        return Response({"id": str(export.pk), "status": export.status}, status=202)


class ExportDetail(ExportView):
    @extend_schema("getExport", responses=serializers.ExportSerializer)
    def get(self, request: Request, export_id: str) -> Response:
        """Get an export.

        When `status` is READY, fetch the file at `url` with the same token, and read the feed from `feedCursor` on.
        """
        return Response(export_payload(self.export(export_id)))


class ExportFile(ExportView):
    @extend_schema(
        "downloadExport",
        parameters=[PART],
        responses={
            (200, "application/gzip"): OpenApiTypes.BINARY,
            (206, "application/gzip"): OpenApiTypes.BINARY,
            410: problem("The file was deleted, because a customer in it was erased."),
            416: problem("The range begins behind the end of the file."),
        },
    )
    def get(self, request: Request, export_id: str) -> HttpResponseBase:
        """Download an export.

        Gzip of one JSON record a line. `Range` and `If-Range` work.
        """
        export = self.export(export_id)
        if export.erased_at is not None:
            raise Gone(
                "The file was deleted, because a customer in it was erased. Request another export.",
                code="export_erased",
            )
        if export.status != ExportStatus.READY:
            pending = Coded("The export has no file yet.", code="export_pending")
            failed = Coded("The export failed.", code="export_failed")
            raise NotFound(pending if export.status == ExportStatus.PENDING else failed)
        return file_response(request, export)


def export_payload(export: Export) -> dict[str, Any]:
    ready = export.status == ExportStatus.READY
    return {
        "id": str(export.pk),
        "resource": export.resource,
        "status": export.status,
        "rows": export.rows,
        "url": settings.BASE_URL + reverse("appapi:export-file", args=[export.pk]) if ready else None,
        "feedCursor": export.feed_cursor if ready else None,
        "expiresAt": iso(export.expires_at) if export.expires_at else None,
    }


def file_response(request: Request, export: Export) -> HttpResponseBase:
    """The whole file, or the part that `Range` asks for (RFC 9110, section 14)."""
    etag, size = f'"{export.etag}"', files().size(export.file_name)
    asked = request.headers.get("Range", "") if request.headers.get("If-Range", etag) == etag else ""
    start, end = part_of(asked, size)
    file = files().open(export.file_name)
    file.seek(start)
    response = FileResponse(
        _Part(file, end - start), content_type="application/gzip", filename=export.file_name
    )
    response["Content-Length"] = str(end - start)
    response["ETag"], response["Accept-Ranges"] = etag, "bytes"
    if end - start < size:
        response.status_code = 206
        response["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return response


def part_of(asked: str, size: int) -> tuple[int, int]:
    """Start and end, without the end, of one range. All of it for several ranges and for what is none.

    Raises `RangeNotSatisfiable` for one that has no byte of the file.
    """
    found = RANGE.fullmatch(asked)
    if not found or not any(found.groups()):
        return 0, size
    first, last = found.groups()
    if first and last and int(last) < int(first):
        return 0, size
    start = int(first) if first else max(0, size - int(last))
    end = min(int(last) + 1, size) if first and last else size
    if start >= end:
        raise RangeNotSatisfiable(f"The file has {size} bytes.", size)
    return start, end


class _Part:
    """The next bytes of a file, as `FileResponse` reads and closes it."""

    def __init__(self, file: Any, length: int) -> None:
        self.file, self.left = file, length
        self.close = file.close

    def read(self, size: int = -1) -> bytes:
        data: bytes = self.file.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(data)
        return data


# --- The feed of events ------------------------------------------------------------------------------


class EventFeed(AppApiView):
    tag = "Events"
    required_scope = None
    page_default, page_maximum = EVENTS_A_PAGE

    @extend_schema(
        "listEvents",
        parameters=[serializers.FeedFilters],
        responses={
            200: serializers.FeedSerializer,
            410: problem("The cursor is too old; `message` has the oldest one."),
        },
    )
    def get(self, request: Request) -> Response:
        """Read the feed of events.

        The events that your scopes allow, oldest first, from the installation on, kept for 30 days. Nothing is ever added
        before a cursor that you were given: keep `nextCursor`, and send it as `after` next time.
        """
        query = self.query()
        types = query.names("type", SUBSCRIBABLE)
        limit = query.limit(default=self.page_default, maximum=self.page_maximum)
        query.check()
        page = read_feed(
            installation=self.installation,
            after=query.values.get("after"),
            types=types,
            limit=limit,
            now=timezone.now(),
        )
        self.uses(
            *in_order(SCOPE_OF_EVENT[event.type] for event in page.events if event.type in SCOPE_OF_EVENT)
        )
        body = {
            "data": list(map(event_payload, page.events, page.cursors())),
            "nextCursor": str(page.next),
            "hasMore": page.has_more,
        }
        return Response(body)


def event_payload(event: FeedEvent, cursor: str) -> dict[str, object]:
    return {
        "id": str(event.id),
        "event": event.type,
        "timestamp": event.timestamp,
        "data": orjson.Fragment(event.data),
        "cursor": cursor,
    }
