"""Mounted at `/`: the public marketplace, and the pictures of apps."""

from django.urls import path

from marketplace.views import listing, pictures

app_name = "marketplace"

urlpatterns = [
    path("marketplace/", listing.index, name="index"),
    path("marketplace/<slug:slug>/", listing.app_page, name="app"),
    path("media/pictures/<uuid:picture_id>", pictures.picture, name="picture"),
]
