"""Variables for the templates of all pages."""

from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest

from common import tracing
from common.languages import active_language

THEMES: Final = ("light", "dark")  # else that of the system


def page(request: HttpRequest) -> dict[str, Any]:
    return {
        "language": active_language(),
        "base_url": settings.BASE_URL,
        "footer_note": settings.FOOTER_NOTE,
        "footer_links": settings.FOOTER_LINKS,
        "theme": theme if (theme := request.COOKIES.get("theme", "")) in THEMES else "",
        "request_id": tracing.current_request_id(),
    }
