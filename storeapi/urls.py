"""URLs for shops that exist. No route ends with a slash (`common.web.api`)."""

from django.urls import path, re_path

from common.web.methods import at_no_page
from storeapi.views.base import UnknownPath
from storeapi.views.stores import StoreDetail, StoreList, StoreWanted

app_name = "storeapi"

urlpatterns = [
    path("store-api/stores", StoreList.as_view(), name="stores"),
    path("store-api/stores/<str:store>", StoreDetail.as_view(), name="store"),
    path("store-api/stores/<str:store>/wanted", StoreWanted.as_view(), name="wanted"),
    re_path(r"^store-api(?:/|$)", at_no_page(UnknownPath.as_view()), name="unknown"),
]
