"""The least that Django can do: one query, tuples, orjson. No token, no limit, no total, no wire shape."""

import orjson
from django.http import HttpRequest, HttpResponse
from django.urls import path

from stores.models import Product
from stores.serializers import PRODUCT_COLUMNS


def products(request: HttpRequest, business_id: str) -> HttpResponse:
    rows = Product.objects.filter(business=business_id, status="ACTIVE").order_by("-id")
    data = [dict(zip(PRODUCT_COLUMNS, row, strict=True)) for row in rows.values_list(*PRODUCT_COLUMNS)[:50]]
    return HttpResponse(orjson.dumps(data), content_type="application/json")


urlpatterns = [path("<str:business_id>/products", products)]
