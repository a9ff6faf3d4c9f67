"""`/developer/apps/:appId/manifest`: what an app adds to stores."""

from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any, cast

from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import Invalid
from common.rest.parsers import MAX_BODY, BodyTooLarge, JsonParser
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
    parser_classes = [ManifestParser]

    def get(self, request: Request, app_id: str) -> Response:
        return Response({"manifest": manifest_document(self.own_app(app_id))})

    def put(self, request: Request, app_id: str) -> Response:
        """Bad input is a 400 whoever's the app is (contract section 9, "Order of errors")."""
        document = _body(request)
        check_manifest(document)
        saved = save_manifest(app=self.own_app(app_id), developer=self.developer, document=document)
        return Response({"manifest": saved.document, "changes": saved.changes})


def _body(request: Request) -> dict[str, Any]:
    """A body must be there: `{}` is a manifest that switches everything off, nothing at all is none."""
    if request.stream is None:
        raise Invalid("Send the manifest as a JSON object.")
    return cast(dict[str, Any], request.data)
