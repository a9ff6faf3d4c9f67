"""`/developer/apps`: a developer's apps and their client secrets."""

import re
import shutil
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import IO, Any, Final

from django.utils.http import parse_header_parameters
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import DataAndFiles, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.enums import TokenRight
from accounts.models import User
from accounts.services.confirmation import require_confirmed
from common.rest.bodies import JsonParser
from common.rest.schema import problem
from common.web.middleware.bodies import LARGEST
from common.web.pagination import page_body, page_request
from developers.api.serializers.bodies import AppChanges, AppPictures, NewApp
from developers.api.serializers.responses import AppSerializer, ClientSecretSerializer, CreatedAppSerializer
from developers.api.views.base import NO_STORE, DeveloperView, validated
from developers.limits import MAX_PARTS
from extensions.queries import manifest_documents
from marketplace.access import roles_of
from marketplace.enums import AppRole
from marketplace.models import App
from marketplace.queries import own_apps
from marketplace.services.apps import create_app, delete_app, rotate_client_secret, update_app

IN_REVIEW = problem("The app is in review.")


class AppsView(DeveloperView):
    tag = "Apps"
    path_fields = {}
    page_default = 20

    @extend_schema("listApps", responses=AppSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List your apps: those of which you are a member."""
        wanted = page_request(request.query_params, default=self.page_default, maximum=self.page_maximum)
        apps = own_apps(self.developer)
        page = payloads(apps[wanted.window], self.developer)
        return Response(page_body(page, total=apps.count(), request=wanted))

    @extend_schema(
        "createApp",
        request=NewApp,
        responses={
            201: OpenApiResponse(CreatedAppSerializer, "The app, a draft."),
            409: problem("The slug is taken."),
        },
    )
    def post(self, request: Request) -> Response:
        """Register an app.

        No other response shows the `clientSecret`.
        """
        require_confirmed(self.developer)  # a 403 comes before a 400
        issued = create_app(developer=self.developer, **validated(NewApp, request))
        return Response(
            payload(issued.app, self.developer) | {"clientSecret": issued.client_secret},
            status=201,
            headers=NO_STORE,
        )

    def still_may(self, needs: str) -> None:
        require_confirmed(self.developer)


MAX_HEADERS: Final = 4096  # bytes of the header lines of one part
MIN_BOUNDARY: Final = 8  # characters; a shorter one may be in every second line of a file

_PART: Final = re.compile(rb"[ \t]*\r\n(?P<headers>(?:[^\r\n]+\r\n)+)\r\n")
_NAMED: Final = re.compile(
    rb"^content-disposition:[ \t]*form-data[ \t]*;.*\bname=", re.IGNORECASE | re.MULTILINE
)
_CLOSE: Final = re.compile(rb"--[ \t]*(?:\r?\n|\Z)")


class FormTooLarge(APIException):
    status_code = 413
    default_detail = "The body is larger than 32 MiB."
    default_code = "body_too_large"


class PictureFormParser(MultiPartParser):
    """multipart/form-data, refused by its declared length before any of it is stored.

    DRF's own parser reads the valid parts of a broken body and drops the rest, so that half an upload would count as a
    small one. This one refuses a body that doesn't conform to RFC 7578.
    """

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> DataAndFiles:
        meta = (parser_context or {})["request"].META
        if int(meta.get("CONTENT_LENGTH") or 0) > LARGEST:
            raise FormTooLarge
        boundary = boundary_of(media_type or "")
        body = BytesIO()
        shutil.copyfileobj(stream, body)  # in pieces: servers make a second copy of what is read at once
        check_form(body.getvalue(), boundary)
        body.seek(0)
        return super().parse(body, media_type, parser_context)


def refuse_empty_form(request: Request) -> None:
    """Raise `ParseError` for a form without a body, which is never handed to a parser."""
    if request.stream is None and (request.content_type or "").lower().startswith("multipart/"):
        raise ParseError("The multipart body is empty.", code="malformed_multipart")


def boundary_of(content_type: str) -> bytes:
    """Raises `ParseError` where a Content-Type names no boundary."""
    boundary = parse_header_parameters(content_type)[1].get("boundary", "")
    if not boundary or not boundary.isascii():
        raise ParseError("The Content-Type names no valid boundary.", code="missing_boundary")
    if len(boundary) < MIN_BOUNDARY:
        raise ParseError(
            f"The boundary in the Content-Type must have at least {MIN_BOUNDARY} characters.",
            code="boundary_too_short",
        )
    return boundary.encode("ascii")


def check_form(body: bytes, boundary: bytes) -> None:
    """Raise `ParseError` unless the body is one to `MAX_PARTS` named parts and the closing boundary.

    Walks from delimiter to delimiter and stops at the first malformed part, so that what is kept doesn't grow with the body.
    """
    delimiter = b"--" + boundary
    if not body.startswith(delimiter):
        raise ParseError("The multipart body does not begin with its boundary.", code="malformed_multipart")
    parts, start = 0, len(delimiter)
    while (end := body.find(delimiter, start)) >= 0:
        parts += 1
        if parts > MAX_PARTS:
            raise ParseError(
                f"The multipart body has more than {MAX_PARTS} parts.", code="malformed_multipart"
            )
        if not _is_part(body, start, end):
            raise ParseError(f"Part {parts} of the multipart body is malformed.", code="malformed_multipart")
        start = end + len(delimiter)
    if not _CLOSE.match(body, start):
        raise ParseError(
            "The multipart body does not end with its closing boundary.", code="malformed_multipart"
        )
    if not parts:
        raise ParseError("The multipart body has no parts.", code="malformed_multipart")


def _is_part(body: bytes, start: int, end: int) -> bool:
    """Whether there are header lines with a field's name, an empty line, and content that a line break ends."""
    head = _PART.match(body, start, min(end, start + MAX_HEADERS))
    closed = head is not None and body.startswith(b"\r\n", end - 2) and head.end() <= end - 2
    return closed and head is not None and _NAMED.search(head["headers"]) is not None


class AppView(DeveloperView):
    tag = "Apps"
    token_rights = {"DELETE": TokenRight.DELETE}
    app_roles = {"DELETE": AppRole.OWNER}
    parser_classes = [JsonParser, PictureFormParser]

    @extend_schema("getApp", responses=AppSerializer)
    def get(self, request: Request, app_id: str) -> Response:
        """Get an app."""
        return Response(payload(self.own_app(app_id), self.developer))

    @extend_schema(
        "changeApp",
        request={"application/json": AppChanges, "multipart/form-data": AppPictures},
        examples=[
            OpenApiExample(
                "Change",
                {"description": "Stars for regulars, and a coffee for ten.", "version": "1.4.0"},
                request_only=True,
            )
        ],
        responses={
            200: AppSerializer,
            409: IN_REVIEW,
            413: problem("The body is larger than 1 MiB, with pictures 32 MiB."),
        },
    )
    def patch(self, request: Request, app_id: str) -> Response:
        """Edit an app.

        Any of the fields; send pictures as multipart/form-data. Editing an APPROVED app makes its working
        copy a DRAFT; the approved version stays listed.
        """
        refuse_empty_form(request)
        changes = validated(AppChanges, request, partial=True)
        updated = update_app(app=self.own_app(app_id), changes=changes)
        return Response(payload(updated, self.developer))

    @extend_schema(
        "deleteApp",
        responses={204: None, 409: problem("The app was approved before, and merchants may use it.")},
    )
    def delete(self, request: Request, app_id: str) -> Response:
        """Delete an app.

        Only while it was never approved.
        """
        delete_app(app=self.own_app(app_id))
        return Response(status=204)


class ClientSecretView(DeveloperView):
    tag = "Apps"
    token_rights = {"POST": TokenRight.SECRETS}

    @extend_schema("rotateClientSecret", responses={201: ClientSecretSerializer})
    def post(self, request: Request, app_id: str) -> Response:
        """Rotate the client secret.

        The old one stops working at once.
        """
        secret = rotate_client_secret(app=self.own_app(app_id), by=self.developer)
        return Response({"clientSecret": secret}, status=201, headers=NO_STORE)


def payloads(apps: Iterable[App], caller: User) -> list[Any]:
    apps = list(apps)
    context = {"manifests": manifest_documents(apps), "roles": roles_of(apps, caller)}
    return list(AppSerializer(apps, many=True, context=context).data)


def payload(app: App, caller: User) -> dict[str, Any]:
    return dict(payloads([app], caller)[0])
