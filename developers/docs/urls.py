from django.urls import path

from developers.docs import views

app_name = "docs"

urlpatterns = [
    path("", views.index, name="index"),
    path("openapi.json", views.openapi, name="openapi"),
    path("reference/", views.overview, name="overview"),
    path("reference/<slug:slug>/", views.group, name="group"),
    path("events/", views.events, name="events"),
    path("events/<str:name>.json", views.event_schema, name="event_schema"),
    path("hooks/", views.hooks, name="hooks"),
    path("guides/<slug:slug>/", views.guide, name="guide"),
]
