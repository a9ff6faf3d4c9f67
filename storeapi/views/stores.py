"""The stores of a connection."""

from rest_framework.request import Request
from rest_framework.response import Response

from storeapi.views.base import StoreView
from stores.serializers import BusinessSerializer


class StoreDetail(StoreView):
    tag = "Stores"

    def get(self, request: Request, **kwargs: str) -> Response:
        return Response(BusinessSerializer(self.business).data)
