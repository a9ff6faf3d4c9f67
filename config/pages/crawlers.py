"""`robots.txt` and `sitemap.xml` of the platform's host."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from common.web.methods import require_safe
from developers.docs import navigation
from marketplace.models import App

PRIVATE = (
    "/accounts/", "/admin/", "/app-api/", "/auth/", "/developer/", "/merchant/", "/oauth/", "/portal/", "/webhooks",
)  # fmt: skip


@require_safe
def robots_txt(request: HttpRequest) -> HttpResponse:
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in PRIVATE)]
    lines.append(f"Sitemap: {settings.BASE_URL}/sitemap.xml")
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")


class _Pages(Sitemap):
    """The home page, the marketplace and the documentation, by their paths."""

    def items(self) -> list[str]:
        return [reverse("home"), reverse("merchants:marketplace"), *navigation.paths()]

    def location(self, item: str) -> str:
        return item


class _Listings(Sitemap):
    def items(self) -> QuerySet[App]:
        return App.objects.listed().select_related("approved_version").order_by("slug")

    def location(self, item: App) -> str:
        return reverse("merchants:listing", args=[item.slug])

    def lastmod(self, item: App) -> datetime | None:
        return item.approved_version.approved_at if item.approved_version else None


SITEMAPS: dict[str, Any] = {"pages": _Pages, "listings": _Listings}
