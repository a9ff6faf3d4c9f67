"""Bodies and query parameters of the developer API. `marketplace.rules` has the rules for the values."""

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.fields import empty

from common.http.url_policy import MAX_URL_LENGTH
from common.ids import parse_id
from common.rest.fields import (
    ApiSerializer,
    Boolean,
    Choice,
    Described,
    Identifier,
    Integer,
    StringList,
    Text,
)
from common.text.countries import CODES
from marketplace import rules
from marketplace.data_terms import MAX_COUNTRIES, MAX_DAYS, MAX_PROCESSORS
from marketplace.enums import Category, ReleaseMode, SessionTokenAlg
from marketplace.models import picture_url
from marketplace.scopes import NAMEABLE_EVENTS, SCOPES
from marketplace.services.pictures import BadPicture, Decoded, decode
from marketplace.services.releases import REASON_LENGTH
from webhooks.catalogue import EVENTS
from webhooks.enums import DeliveryStatus
from webhooks.serializers import InstallationId, WebhookFilterSerializer
from webhooks.services.sandbox.samples import SAMPLES

# The part of the rules that JSON Schema can express. One line of text, and several lines.
_LINE: Final = r"[^\x00-\x1f\x7f]*"
_LINES: Final = r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*"
PATTERNS: Final = {
    "name": rf"^{_LINE}\S{_LINE}$",
    "slug": f"^{rules.SLUG.pattern}$",
    "description": rf"^{_LINES}\S{_LINES}$",
    "version": f"^{rules.SEMVER.pattern}$",
    "long_description": f"^{_LINES}$",
    "how_to_test": f"^{_LINES}$",
    "scope_reason": f"^{_LINES}$",
}
ADDRESS: Final = {"maxLength": MAX_URL_LENGTH}
ALT_TEXT: Final = {"pattern": f"^{_LINE}$", "maxLength": rules.MAX_ALT_TEXT}
SCHEMAS: Final = {
    name: {"pattern": pattern, "maxLength": (rules.LENGTHS | rules.REMARKS)[name]}
    for name, pattern in PATTERNS.items()
} | {
    "category": {"enum": Category.values},
    "scope": {"enum": list(SCOPES)},
    "webhook_event": {"enum": list(NAMEABLE_EVENTS)},
    "redirect_url": {"format": "uri", "maxLength": MAX_URL_LENGTH},
    "webhook_url": {"format": "uri", "maxLength": MAX_URL_LENGTH},
    "support": {"maxLength": MAX_URL_LENGTH},
    "privacy_url": {"format": "uri", "maxLength": MAX_URL_LENGTH},
    "data_country": {"enum": list(CODES)},
    "data_processors": {"pattern": f"^{_LINES}$", "maxLength": MAX_PROCESSORS},
}


def by(rule: Callable[[Any], None]) -> Callable[[Any], None]:
    """A rule of the marketplace as a validator of a serializer's field."""

    def validate(value: Any) -> None:
        try:
            rule(value)
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None

    return validate


class TextLine(Text):
    default_error_messages = {"blank": "Must not be empty."}

    def __init__(self, rule: Callable[[str], None], *args: Any, **options: Any) -> None:
        options.setdefault("schema", SCHEMAS.get(rule.__name__))
        super().__init__(*args, validators=[by(rule)], **options)


class Name(TextLine, Identifier):
    """A line that keeps its outer white space."""


def support(value: str) -> None:
    """`rules.support_url` for an address that may be without its `mailto:`, which the service adds."""
    rules.support_url(rules.with_mailto(value))


class Absent(TextLine):
    """Text that may be left out: null and the empty string both say that there is none."""

    def __init__(self, rule: Callable[[str], None], *args: Any, **options: Any) -> None:
        super().__init__(rule, *args, required=False, allow_blank=True, allow_null=True, **options)

    def run_validation(self, data: Any = empty) -> Any:
        return super().run_validation("" if data is None else data)


@extend_schema_field(OpenApiTypes.BINARY)
class PictureFile(Described):
    """A file of a multipart body."""

    default_error_messages = {"no_file": "Send the picture as a file of a multipart/form-data body."}

    def to_internal_value(self, data: Any) -> Decoded:
        if not isinstance(data, UploadedFile):
            self.fail("no_file")
        try:
            return decode(data)
        except BadPicture as error:
            raise serializers.ValidationError(str(error)) from None


@extend_schema_field(OpenApiTypes.STR)
class PictureAddress(Described):
    """The address of a picture that the app shows already, so that what was read may be sent back."""

    default_error_messages = {"unknown": "Must be the address of a picture that the app shows, or a file."}

    def to_internal_value(self, data: Any) -> UUID:
        picture_id = parse_id(data.rpartition("/")[2]) if isinstance(data, str) else None
        if picture_id is None or data != picture_url(picture_id):
            self.fail("unknown")
        return picture_id


@extend_schema_field(OpenApiTypes.STR)
class PictureOrAddress(Described):
    def to_internal_value(self, data: Any) -> Decoded | UUID:
        field = PictureFile() if isinstance(data, UploadedFile) else PictureAddress()
        return field.to_internal_value(data)


class Screenshots(Described, serializers.ListField):
    """All screenshots, which replace the earlier ones. Their number is checked before any of them is decoded."""

    child = PictureOrAddress(schema=ADDRESS)

    def to_internal_value(self, data: Any) -> list[Decoded | UUID]:
        if isinstance(data, list):
            by(rules.screenshots)(data)
        return super().to_internal_value(data)


class NewApp(ApiSerializer):
    name = TextLine(rules.name, "The name that merchants read.", "Loyalty Stars")
    slug = Name(rules.slug, "The app's name in URLs; it never changes.", "loyalty-stars")
    description = TextLine(rules.description, "For the marketplace's cards.", "Stars for regulars.")
    category = Name(rules.category, "The category in the marketplace.", "loyalty")
    scopes = StringList(
        "The permissions that the app asks for.",
        ["read_orders", "read_products"],
        child=Name(rules.scope),
        validators=[by(rules.scopes)],
        schema={"minItems": 1},
    )
    redirectUrl = TextLine(
        rules.redirect_url, "Merchants return here: HTTPS.", "https://stars.example.com/callback"
    )
    webhookUrl = Absent(
        rules.webhook_url, "Receives deliveries and hook calls: HTTPS.", "https://stars.example.com/events"
    )
    webhookEvents = StringList(
        "The events of the app-defined webhook; empty for all that the scopes allow.",
        ["order.created"],
        child=Name(rules.webhook_event),
        required=False,
    )
    webhookFilter = WebhookFilterSerializer(
        required=False,
        allow_null=True,
        help_text="Which of these events it gets; null: all. Applies at once.",
    )
    version = Name(rules.version, "Semantic Versioning 2.0.", "1.4.0", required=False)
    longDescription = Absent(
        rules.long_description, "For the listing, in Markdown.", "**Stars** for regulars."
    )
    supportUrl = Absent(
        support, "Where merchants get help: an https link or an e-mail address.", "help@stars.example.com"
    )
    privacyUrl = Absent(rules.privacy_url, "The privacy policy: HTTPS.", "https://stars.example.com/privacy")
    dataCountries = StringList(
        "Where the data of stores goes: codes of ISO 3166-1; empty if you don't say.",
        ["DE", "FR"],
        child=Name(rules.data_country),
        max_length=MAX_COUNTRIES,
        required=False,
    )
    dataRetentionDays = Integer(
        "For how long it is kept there; null for as long as the app is installed. Only together with countries.",
        30,
        min_value=0,
        max_value=MAX_DAYS,
        allow_null=True,
        required=False,
    )
    dataProcessors = Absent(
        rules.data_processors, "Who else processes it, without addresses of pages.", "Mailer Ltd."
    )


@extend_schema_serializer(exclude_fields=["icon"])  # a file, see AppPictures
class AppChanges(NewApp):
    """Any of the fields. `services.apps` refuses another slug than the app's."""

    name = TextLine(
        rules.name_in_use, "The name that merchants read.", "Loyalty Stars", schema=SCHEMAS["name"]
    )
    slug = Name(
        lambda value: None,
        "May be sent unchanged.",
        "loyalty-stars",
        schema={"maxLength": rules.LENGTHS["slug"]},
    )
    liveSaves = Boolean(
        "Whether a save of the manifest that widens nothing runs in production at once. If not, every change waits for the next version.",
        False,
        required=False,
    )
    sessionTokenAlg = Choice(
        SessionTokenAlg.values,
        "How session tokens are signed: HS256 with the webhook secret, or EdDSA with the platform's key. Applies at once.",
        "EdDSA",
        required=False,
    )
    iconUrl = PictureAddress(
        "null removes the icon; else its address.", source="icon", allow_null=True, schema=ADDRESS
    )
    icon = PictureFile()
    screenshots = Screenshots("The new set, as addresses that the app already shows. [] removes all.", [])
    screenshotAlts = StringList(
        "What each screenshot shows, in their order, for people who can't see it.",
        [],
        child=TextLine(rules.screenshot_alt, allow_blank=True, schema=ALT_TEXT),
        max_length=rules.MAX_SCREENSHOTS,
    )


class AppPictures(serializers.Serializer):
    """For the documentation: the body of a form. It may have any field of `AppChanges` as text."""

    icon = PictureFile("PNG, JPEG or WebP, at most 2 MiB.", "icon.png", required=False)
    screenshots = StringList(
        "The new set.",
        ["screenshot.png"],
        child=PictureFile(),
        max_length=rules.MAX_SCREENSHOTS,
        required=False,
    )


class NewSubmission(ApiSerializer):
    """Notes to the reviewers and the merchants. The body itself may be left out."""

    howToTest = Absent(rules.how_to_test, "For the reviewer.", "Place an order.")
    scopeReason = Absent(rules.scope_reason, "For merchants: why these scopes.", "To count stars.")
    release = Choice(
        ReleaseMode.choices,
        "How the approved version reaches the stores that have the app; ALL where it is left out.",
        "STEPS",
        required=False,
    )


class ReleaseReason(ApiSerializer):
    """Why. The body itself may be left out."""

    reason = Text(
        "Shown on the page of the release.",
        "Prices are wrong.",
        required=False,
        allow_blank=True,
        max_length=REASON_LENGTH,
    )


class SampleEvent(serializers.Serializer):
    event = Choice(SAMPLES, "The event to send.", "order.created")


class DeliveryLogFilters(serializers.Serializer):
    """The query parameters of `DeliveriesView`, for the documentation."""

    status = Choice(DeliveryStatus.choices, "Only this status.", "EXHAUSTED", required=False)
    event = Choice(EVENTS, "Only this event.", "order.created", required=False)
    installationId = InstallationId(required=False, allow_blank=True, max_length=200)
