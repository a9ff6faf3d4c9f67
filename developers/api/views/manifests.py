"""`/developer/apps/:appId/manifest`: what an app adds to stores."""

from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import Invalid
from common.rest.parsers import MAX_BODY, BodyTooLarge, JsonParser
from common.rest.schema import problem
from developers.api.serializers.manifests import (
    ManifestDocumentSerializer,
    ManifestSerializer,
    SavedManifestSerializer,
)
from developers.api.views.apps import IN_REVIEW
from developers.api.views.base import DeveloperView
from extensions.manifest.text import repeated_keys
from extensions.queries import manifest_document
from extensions.services.manifests import check_manifest, save_manifest


class ManifestParser(JsonParser):
    """JSON in which no object has a key twice, since one of the two would be lost without a word."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        body = stream.read(MAX_BODY + 1)
        if len(body) > MAX_BODY:
            raise BodyTooLarge
        document = super().parse(BytesIO(body), media_type, parser_context)
        if repeated := repeated_keys(body.decode()):
            raise Invalid.fields([problem.detail for problem in repeated])
        return document


class ManifestView(DeveloperView):
    tag = "Extensions"
    parser_classes = [ManifestParser]

    @extend_schema("getManifest", responses=ManifestSerializer)
    def get(self, request: Request, app_id: str) -> Response:
        """Get an app's manifest.

        As it was saved, without defaults; {} before the first save.
        """
        return Response({"manifest": manifest_document(self.own_app(app_id))})

    @extend_schema(
        "saveManifest",
        request=ManifestDocumentSerializer,
        responses={
            200: SavedManifestSerializer,
            400: problem("Nothing was saved: `details` hold every problem with its path."),
            409: IN_REVIEW,
        },
    )
    def put(self, request: Request, app_id: str) -> Response:
        """Save an app's manifest.

        Your own sandbox runs it at once. Stores run what stays within the reach of the approved version; `reach`
        names the rest. One that is left out is switched off and keeps its id. At most 256 KiB.
        """
        # Bad input is a 400 even for another developer's app (contract, section 9, "Order of errors").
        document = _body(request)
        check_manifest(document)
        saved = save_manifest(app=self.own_app(app_id), developer=self.developer, document=document)
        return Response({"manifest": saved.document, "changes": saved.changes, "reach": saved.reach})


def _body(request: Request) -> dict[str, Any]:
    """A body must be there: `{}` is a manifest that switches everything off, nothing at all is none."""
    if request.stream is None:
        raise Invalid("Send the manifest as a JSON object.", code="json_not_object")
    return cast(dict[str, Any], request.data)
