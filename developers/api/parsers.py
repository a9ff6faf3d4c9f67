"""Reading a body with pictures."""

from collections.abc import Mapping
from typing import IO, Any, Final

from rest_framework.exceptions import APIException
from rest_framework.parsers import DataAndFiles, MultiPartParser

MAX_FORM: Final = 32 * 1024 * 1024  # bytes; an icon and five screenshots may have 12 MiB


class FormTooLarge(APIException):
    status_code = 413
    default_detail = "The body is larger than 32 MiB."
    default_code = "body_too_large"


class PictureFormParser(MultiPartParser):
    """multipart/form-data, refused by its declared length before any of it is stored."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> DataAndFiles:
        meta = (parser_context or {})["request"].META
        if int(meta.get("CONTENT_LENGTH") or 0) > MAX_FORM:
            raise FormTooLarge
        return super().parse(stream, media_type, parser_context)
