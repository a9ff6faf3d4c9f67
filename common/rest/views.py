"""What every JSON endpoint answers by itself."""

from typing import Any

from django.http import HttpRequest
from rest_framework.response import Response
from rest_framework.views import APIView


class JsonView(APIView):
    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        """The methods are in the `Allow` header; there is nothing else to tell."""
        return Response(status=204)
