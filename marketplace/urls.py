"""Mounted at `/media/`."""

from django.urls import path

from marketplace import views

app_name = "marketplace"

urlpatterns = [
    path("pictures/<uuid:picture_id>", views.picture, name="picture"),
]
