"""The base class of all JSON endpoints."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework.fields import Field
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from common.rest.deprecation import Deprecation


class JsonView(APIView):
    """The class attributes are for the OpenAPI document (`common.rest.schema`), and the page sizes for views too."""

    tag: ClassVar[str]  # the heading of the view's operations
    path_fields: ClassVar[dict[str, Field]] = {}  # by their names in the URL conf
    page_default: ClassVar[int] = 50
    page_maximum: ClassVar[int] = 100
    requests_a_minute: ClassVar[int | None] = None
    is_limited: ClassVar[bool] = False  # whether there is a 429 without rate headers, too
    error_serializer: ClassVar[type[BaseSerializer] | None] = (
        None  # where errors have another shape than usual
    )

    deprecations: ClassVar[Mapping[str, Deprecation]] = {}  # by method; their answers have its headers

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        if deprecation := self.deprecations.get(request.method or ""):
            for name, value in deprecation.headers.items():
                response[name] = value
        return response
