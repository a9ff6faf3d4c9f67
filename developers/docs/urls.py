from collections.abc import Callable

from django.http import HttpResponseBase
from django.urls import URLPattern, path

from developers.docs.views import explorer, pages


def json_path(route: str, view: Callable[..., HttpResponseBase], name: str | None = None) -> list[URLPattern]:
    """The route with and without a trailing slash; `reverse` gives it without. On API paths `ApiMiddleware` removes the slash."""
    return [path(f"{route}/", view, name=name), path(route, view, name=name)]  # `reverse` takes the last


app_name = "docs"
urlpatterns = [
    path("", pages.index, name="index"),
    *json_path("openapi.json", pages.openapi, name="openapi"),
    path("search/", pages.search_page, name="search"),
    path("reference/", pages.overview, name="overview"),
    path("reference/<slug:slug>/", pages.group, name="group"),
    path("reference/<slug:slug>/<str:operation>/run/", explorer.run, name="run"),
    path("events/", pages.events, name="events"),
    *json_path("events/<str:name>.json", pages.event_schema, name="event_schema"),
    path("hooks/", pages.hooks, name="hooks"),
    path("errors/", pages.error_index, name="errors"),
    path("limits/", pages.limit_list, name="limits"),
    path("changelog/", pages.changes, name="changelog"),
    path("changelog/feed.xml", pages.changes_feed, name="changelog_feed"),
    path("guides/<slug:slug>.md", pages.guide_source, name="guide_source"),
    path("guides/<slug:slug>/", pages.guide, name="guide"),
]
