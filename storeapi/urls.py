"""URLs for shops that exist. No route ends with a slash (`common.web.api`)."""

from django.urls import path

from storeapi.views.stores import StoreDetail

app_name = "storeapi"

urlpatterns = [
    path("store-api/stores/<str:store>", StoreDetail.as_view(), name="store"),
]
