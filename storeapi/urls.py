"""URLs for shops that exist. No route ends with a slash (`common.web.api`)."""

from django.urls import path, re_path

from common.web.methods import at_no_page
from storeapi.views.base import UnknownPath
from storeapi.views.clock import Advance
from storeapi.views.customers import CustomerErasureDetail, EraseCustomer
from storeapi.views.stores import StoreDetail, StoreList

app_name = "storeapi"

urlpatterns = [
    path("store-api/stores", StoreList.as_view(), name="stores"),
    path("store-api/stores/<str:store>", StoreDetail.as_view(), name="store"),
    path("store-api/stores/<str:store>/advance", Advance.as_view(), name="advance"),
    path("store-api/stores/<str:store>/customers/erase", EraseCustomer.as_view(), name="erase-customer"),
    path(
        "store-api/stores/<str:store>/erasures/<str:erasure_id>",
        CustomerErasureDetail.as_view(),
        name="erasure",
    ),
    re_path(r"^store-api(?:/|$)", at_no_page(UnknownPath.as_view()), name="unknown"),
]
