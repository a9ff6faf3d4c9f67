"""The view at the ``commands`` URL of the connection."""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from extension_platform_store.plain import to_json

from .connection import commands as of_settings


class PlainJsonResponse(JsonResponse):
    """With decimal numbers as numbers."""

    def __init__(self, data: dict[str, object], status: int) -> None:
        super().__init__({}, status=status)
        self.content = to_json(data).encode()


@csrf_exempt
@require_POST
def commands(request: HttpRequest) -> JsonResponse:
    """Carry out what the platform asks; the signature is checked first."""
    status, answer = of_settings().answer(request.headers, request.body)
    return PlainJsonResponse(answer, status)
