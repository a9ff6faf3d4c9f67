"""URLs for the pages of shops, which have no key."""

from django.urls import path

from storeapi.views.placements import PublicPlacements, script

app_name = "shops"

urlpatterns = [
    path("placements/<str:business_id>", PublicPlacements.as_view(), name="placements"),
    path("store.js", script, name="script"),
]
