"""What every page's template knows."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def page(request: HttpRequest) -> dict[str, Any]:
    return {"base_url": settings.BASE_URL, "theme": request.COOKIES.get("theme", "")}
