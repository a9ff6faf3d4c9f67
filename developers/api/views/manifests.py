"""`/developer/apps/:appId/manifest`: what an app adds to stores. `extensions.manifest` checks it, by more than the schema here can say."""

from collections.abc import Mapping
from functools import partial
from io import BytesIO
from typing import IO, Any, Final, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import Invalid
from common.http.url_policy import MAX_URL_LENGTH
from common.rest.bodies import MAX_BODY, BodyTooLarge, JsonParser
from common.rest.fields import Choice, Integer, Object, Text
from common.rest.schema import problem
from developers.api.views.apps import IN_REVIEW
from developers.api.views.base import DeveloperView
from extensions.enums import EmbedKind, ExtensionType
from extensions.manifest.problems import MAX_BYTES
from extensions.manifest.text import repeated_keys
from extensions.queries import manifest_document
from extensions.services.manifests import check_manifest, save_manifest
from stores.hookpoints import HookPoint


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


POSITIONS: Final = ["head", "body_end", "bottom_right", "bottom_left"]
CLOSED: Final = {"additionalProperties": False}

Optional = partial(Text, required=False, allow_blank=True)
Key = partial(Text, min_length=1, max_length=100)
Url = partial(
    Text,
    "HTTPS, on another origin than this service.",
    max_length=MAX_URL_LENGTH,
    schema={"format": "uri"},
)
OfOneKind = partial(
    Text, required=False, allow_blank=True, max_length=MAX_BYTES
)  # any text for the other kind of embed
Icon = partial(Optional, "An icon's name.", "star", max_length=100)
Description = partial(Optional, "A line for merchants.", "The rating of a product, in stars.", max_length=500)
SettingsSchema = partial(
    Object, "JSON Schema of an object.", {"type": "object", "properties": {}}, required=False
)
DefaultConfig = partial(Object, "The initial settings.", {}, required=False)


class BlockSerializer(serializers.Serializer):
    blockType = Key("Its key, unique in the list.", "stars")
    name = Key("The name that merchants see.", "Star rating")
    description = Description()
    iconName = Icon()
    category = Optional("Groups the picker.", "Reviews", max_length=100)
    renderUrl = Url(example="https://stars.example.com/block")
    settingsSchema = SettingsSchema()
    defaultConfig = DefaultConfig()

    schema: Final = CLOSED


class EmbedSerializer(serializers.Serializer):
    embedType = Key("Its key, unique in the list.", "chat")
    name = Key("The name that merchants see.", "Star rating")
    description = Description()
    kind = Choice(EmbedKind.choices, "The kind of embed.", "FLOATING_WIDGET")
    position = Choice(POSITIONS, "head or body_end for a script, a corner for a widget.", "bottom_right")
    scriptUrl = OfOneKind("Of a GLOBAL_SCRIPT.", "https://stars.example.com/chat.js", allow_null=True)
    renderUrl = OfOneKind("Of a FLOATING_WIDGET.", "https://stars.example.com/chat", allow_null=True)
    integrity = OfOneKind("Of a GLOBAL_SCRIPT: its Subresource Integrity hash.", f"sha256-{'A' * 43}=")
    settingsSchema = SettingsSchema()
    defaultConfig = DefaultConfig()

    schema: Final = CLOSED


class HookSerializer(serializers.Serializer):
    hookPoint = Choice(list(map(str, HookPoint)), "Unique in the list.", "order.calculate_discounts")
    url = Text("A path below the Webhook URL.", "/hooks/discounts", min_length=1, max_length=500)
    timeout = Integer("Milliseconds.", 2000, min_value=100, max_value=10_000, default=5000)
    priority = Integer("Lower is called first.", 100, min_value=0, max_value=1000, default=100)

    schema: Final = CLOSED


class AdminPageSerializer(serializers.Serializer):
    pageId = Key("Its key, unique in the list.", "overview")
    title = Key("The entry in the merchant's sidebar.", "Stars")
    iconName = Icon()
    renderUrl = Url(example="https://stars.example.com/admin")

    schema: Final = CLOSED


def at_most_50(item: serializers.Serializer) -> serializers.ListSerializer:
    return serializers.ListSerializer(child=item, required=False, max_length=50)


class ManifestDocumentSerializer(serializers.Serializer):
    settingsSchema = SettingsSchema()
    blocks = at_most_50(BlockSerializer())
    embeds = at_most_50(EmbedSerializer())
    hooks = at_most_50(HookSerializer())
    adminPages = at_most_50(AdminPageSerializer())

    schema: Final = CLOSED


class ManifestSerializer(serializers.Serializer):
    manifest = ManifestDocumentSerializer()


class ManifestChangeSerializer(serializers.Serializer):
    type = Choice(ExtensionType.choices, "The kind of extension.", "block")
    key = Text("Its key.", "stars")
    id = Text("The definition; saving keeps it.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a0d")


class ManifestChangesSerializer(serializers.Serializer):
    created = ManifestChangeSerializer(many=True, help_text="New ones.")
    updated = ManifestChangeSerializer(many=True, help_text="Changed ones, and ones that returned.")
    deactivated = ManifestChangeSerializer(many=True, help_text="Those that left the manifest.")


class ManifestReachSerializer(serializers.Serializer):
    live = ManifestChangeSerializer(many=True, help_text="Those that stores run as saved.")
    withNextVersion = ManifestChangeSerializer(
        many=True, help_text="Those that widen the reach: stores run them after the next approved version."
    )


class SavedManifestSerializer(ManifestSerializer):
    changes = ManifestChangesSerializer()
    reach = ManifestReachSerializer()


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
