"""The default way of a team: ModelSerializer, a paginator that counts, the library's token authentication.

It has no rate limit.
"""

from typing import Any

from django.db.models import QuerySet
from django.urls import path
from oauth2_provider.contrib.rest_framework import OAuth2Authentication, TokenHasScope
from rest_framework.generics import ListAPIView
from rest_framework.pagination import PageNumberPagination
from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import ModelSerializer

from stores.models import Product
from stores.serializers import PRODUCT_COLUMNS


class ProductSerializer(ModelSerializer):
    class Meta:
        model = Product
        fields = PRODUCT_COLUMNS


class Pages(PageNumberPagination):
    page_size = 50


class ProductList(ListAPIView):
    authentication_classes = [OAuth2Authentication]
    permission_classes = [TokenHasScope]
    required_scopes = ["read"]
    renderer_classes = [JSONRenderer]
    serializer_class = ProductSerializer
    pagination_class = Pages

    def get_queryset(self) -> QuerySet[Any]:
        return Product.objects.filter(business=self.kwargs["business_id"], status="ACTIVE").order_by("-id")


urlpatterns = [path("<str:business_id>/products", ProductList.as_view())]
