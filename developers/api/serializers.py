"""The bodies of the developer API: the wire's names and types. What a value may be, `marketplace.rules` says."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from rest_framework import serializers
from rest_framework.fields import empty

from common.ids import parse_id
from common.rest.fields import Choice, Identifier, Text
from marketplace import rules
from marketplace.models import picture_url
from marketplace.services.pictures import BadPicture, Decoded, decode
from webhooks.services.samples import SAMPLES


def by(rule: Callable[[Any], None]) -> Callable[[Any], None]:
    """A rule of the marketplace as a validator of a serializer's field."""

    def validate(value: Any) -> None:
        try:
            rule(value)
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None

    return validate


class Line(Text):
    default_error_messages = {"blank": "Must not be empty."}

    def __init__(self, rule: Callable[[str], None], **options: Any) -> None:
        super().__init__(validators=[by(rule)], **options)


class Name(Line, Identifier):
    """A line that is taken as it is written."""


class Absent(Line):
    """Text that may be left out: null and the empty string both say that there is none."""

    def __init__(self, rule: Callable[[str], None], **options: Any) -> None:
        super().__init__(rule, required=False, allow_blank=True, allow_null=True, **options)

    def run_validation(self, data: Any = empty) -> Any:
        return super().run_validation("" if data is None else data)


class Names(serializers.ListField):
    def __init__(self, item: Callable[[str], None], **options: Any) -> None:
        super().__init__(child=Identifier(validators=[by(item)]), **options)


class PictureFile(serializers.Field):
    """A file of a multipart body."""

    default_error_messages = {"no_file": "Send the picture as a file of a multipart/form-data body."}

    def to_internal_value(self, data: Any) -> Decoded:
        if not isinstance(data, UploadedFile):
            self.fail("no_file")
        try:
            return decode(data)
        except BadPicture as error:
            raise serializers.ValidationError(str(error)) from None


class PictureAddress(serializers.Field):
    """The address of a picture that the app shows already, so that what was read may be sent back."""

    default_error_messages = {"unknown": "Must be the address of a picture that the app shows, or a file."}

    def to_internal_value(self, data: Any) -> UUID:
        picture_id = parse_id(data.rpartition("/")[2]) if isinstance(data, str) else None
        if picture_id is None or data != picture_url(picture_id):
            self.fail("unknown")
        return picture_id


class PictureOrAddress(serializers.Field):
    def to_internal_value(self, data: Any) -> Decoded | UUID:
        field = PictureFile() if isinstance(data, UploadedFile) else PictureAddress()
        return field.to_internal_value(data)


class Screenshots(serializers.ListField):
    """The set that replaces the former one. How many there are is seen before any is decoded."""

    child = PictureOrAddress()

    def to_internal_value(self, data: Any) -> list[Decoded | UUID]:
        if isinstance(data, list):
            by(rules.screenshots)(data)
        return super().to_internal_value(data)


class NewApp(serializers.Serializer):
    name = Line(rules.name)
    slug = Name(rules.slug)
    description = Line(rules.description)
    category = Name(rules.category)
    scopes = Names(rules.scope, validators=[by(rules.scopes)])
    redirectUrl = Line(rules.redirect_url, source="redirect_url")
    webhookUrl = Absent(rules.webhook_url, source="webhook_url")
    webhookEvents = Names(rules.webhook_event, source="webhook_events", required=False)
    version = Name(rules.version, required=False)


class AppChanges(NewApp):
    """Any of the fields. The slug may be sent along unchanged; the service sees to that."""

    slug = Name(lambda value: None)
    iconUrl = PictureAddress(source="icon", allow_null=True)
    icon = PictureFile()
    screenshots = Screenshots()


class NewSubmission(serializers.Serializer):
    """What a developer tells the reviewers and the merchants. The body itself may be left out."""

    howToTest = Absent(rules.how_to_test, source="how_to_test")
    scopeReason = Absent(rules.scope_reason, source="scope_reason")


class SampleEvent(serializers.Serializer):
    event = Choice(SAMPLES)
