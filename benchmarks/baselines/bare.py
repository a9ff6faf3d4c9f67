"""The least that Django can do: one query, tuples, orjson. No token, no limit, no total, no wire shape."""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from django.urls import path

from stores.models import Order, Product
from stores.serializers import ORDER_COLUMNS, PRODUCT_COLUMNS


def products(request: HttpRequest, business_id: str) -> HttpResponse:
    rows = Product.objects.filter(business=business_id, status="ACTIVE").order_by("-id")
    return _listed(PRODUCT_COLUMNS, rows.values_list(*PRODUCT_COLUMNS)[:50])


def orders(request: HttpRequest, business_id: str) -> HttpResponse:
    """With their payments, and without their lines, which would be another query."""
    rows = Order.objects.filter(business=business_id).order_by("-id")
    return _listed(ORDER_COLUMNS, rows.values_list(*ORDER_COLUMNS)[:20])


def _listed(columns: Sequence[str], rows: Iterable[Any]) -> HttpResponse:
    data = [dict(zip(columns, row, strict=True)) for row in rows]
    return HttpResponse(orjson.dumps(data), content_type="application/json")


urlpatterns = [
    path("<str:business_id>/products", products),
    path("<str:business_id>/orders", orders),
]
