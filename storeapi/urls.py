"""URLs for shops that exist. No route ends with a slash (`common.web.api`)."""

from django.urls import path, re_path

from common.web.methods import at_no_page
from storeapi.views.base import UnknownShopPath
from storeapi.views.clock import Advance
from storeapi.views.customers import CustomerErasureDetail, CustomerErasureList
from storeapi.views.hooks import HookCallList, PaymentDetail
from storeapi.views.people import PersonDetail, TicketList
from storeapi.views.placements import StorePlacements
from storeapi.views.rows import (
    OrderRowDetail,
    PageRowDetail,
    ProductRowDetail,
    ReviewRowDetail,
    RowBatch,
    RowSnapshot,
)
from storeapi.views.stores import StoreDetail, StoreList, StoreWanted

app_name = "storeapi"

urlpatterns = [
    path("store-api/stores", StoreList.as_view(), name="stores"),
    path("store-api/stores/<str:store>", StoreDetail.as_view(), name="store"),
    path("store-api/stores/<str:store>/wanted", StoreWanted.as_view(), name="wanted"),
    path("store-api/stores/<str:store>/placements", StorePlacements.as_view(), name="placements"),
    path("store-api/stores/<str:store>/products/<str:id>", ProductRowDetail.as_view(), name="product"),
    path("store-api/stores/<str:store>/orders/<str:id>", OrderRowDetail.as_view(), name="order"),
    path("store-api/stores/<str:store>/reviews/<str:id>", ReviewRowDetail.as_view(), name="review"),
    path("store-api/stores/<str:store>/pages/<str:id>", PageRowDetail.as_view(), name="page"),
    path("store-api/stores/<str:store>/rows", RowBatch.as_view(), name="rows"),
    path("store-api/stores/<str:store>/snapshot", RowSnapshot.as_view(), name="snapshot"),
    path(
        "store-api/stores/<str:store>/customers/erase", CustomerErasureList.as_view(), name="erase-customer"
    ),
    path(
        "store-api/stores/<str:store>/erasures/<str:erasure_id>",
        CustomerErasureDetail.as_view(),
        name="erasure",
    ),
    path("store-api/stores/<str:store>/hooks/<str:point>", HookCallList.as_view(), name="hook"),
    path("store-api/stores/<str:store>/payments/<str:order_id>", PaymentDetail.as_view(), name="payment"),
    path("store-api/stores/<str:store>/advance", Advance.as_view(), name="advance"),
    path("store-api/stores/<str:store>/tickets", TicketList.as_view(), name="tickets"),
    path("store-api/stores/<str:store>/people/<path:person>", PersonDetail.as_view(), name="person"),
    re_path(r"^store-api(?:/|$)", at_no_page(UnknownShopPath.as_view()), name="unknown"),
]
