from collections.abc import Callable

from django.http import HttpResponseBase
from django.urls import URLPattern, path

from developers.docs import views


def json_path(route: str, view: Callable[..., HttpResponseBase], name: str | None = None) -> list[URLPattern]:
    """The route with and without a trailing slash; `reverse` gives it without. On API paths `ApiMiddleware` removes the slash."""
    return [path(f"{route}/", view, name=name), path(route, view, name=name)]  # `reverse` takes the last


app_name = "docs"
urlpatterns = [
    path("", views.index, name="index"),
    *json_path("openapi.json", views.openapi, name="openapi"),
    path("search/", views.search_page, name="search"),
    path("reference/", views.overview, name="overview"),
    path("reference/<slug:slug>/", views.group, name="group"),
    path("reference/<slug:slug>/<str:operation>/run/", views.run_call, name="run"),
    path("events/", views.events, name="events"),
    *json_path("events/<str:name>.json", views.event_schema, name="event_schema"),
    path("hooks/", views.hooks, name="hooks"),
    path("errors/", views.error_index, name="errors"),
    path("limits/", views.limit_list, name="limits"),
    path("changelog/", views.changes, name="changelog"),
    path("changelog/feed.xml", views.changes_feed, name="changelog_feed"),
    path("guides/<slug:slug>.md", views.guide_source, name="guide_source"),
    path("guides/<slug:slug>/", views.guide, name="guide"),
]
