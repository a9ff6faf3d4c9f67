"""The stores of a connection, and what their apps want."""

import hashlib
from typing import Any, Final

import orjson
from django.http import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import ConnectedStore
from common.rest.schema import problem
from common.times import iso
from common.web.pagination import page_body
from storeapi.serializers import EndingStore, StoreBody, WantedSerializer
from storeapi.views.base import RATE, StoreApiView, StoreView
from storeapi.wanted import asked_of, wanted_of
from stores.connected.stores import end_store, put_store
from stores.serializers import BusinessSerializer

TAG = "Connected stores"
IF_NONE_MATCH: Final = OpenApiParameter(
    "If-None-Match",
    {"type": "string", "examples": [f'"{"0" * 64}"']},
    OpenApiParameter.HEADER,
    description="The `ETag` of an earlier response.",
)
DEFAULTED: Final = ("locale", "timezone")  # what an empty text leaves to the default


class StoreList(StoreApiView):
    tag = TAG

    @extend_schema("listConnectedStores", responses=BusinessSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the stores of this connection."""
        query = self.query()
        page = query.page(default=self.page_default, maximum=self.page_maximum)
        query.check()
        rows = ConnectedStore.objects.standing().filter(system=self.system).select_related("business")
        found = rows.order_by("-business__created_at", "-business_id")[page.window]
        data = [_record(each) for each in found]
        return Response(page_body(data, total=rows.count(), request=page))


class StoreDetail(StoreView):
    tag = TAG

    @extend_schema("getConnectedStore", responses=BusinessSerializer)
    def get(self, request: Request, store: str) -> Response:
        """Get a store."""
        return Response(_record(self.store))

    @extend_schema(
        "putConnectedStore",
        request=StoreBody,
        responses={
            200: BusinessSerializer,
            201: BusinessSerializer,
            409: problem("The slug is taken, the currency is fixed, or the store is being removed."),
        },
    )
    def put(self, request: Request, store: str) -> Response:
        """Open or change a store.

        The body is the whole store: what is left out has its default, but a slug stays. Repeated, the call changes nothing.
        """
        values = self.read(StoreBody)
        values = {name: value for name, value in values.items() if value or name not in DEFAULTED}
        found, opened = put_store(system=self.system, external_id=store, values=values)
        return Response(_record(found), status=201 if opened else 200)

    @extend_schema("deleteConnectedStore", responses={202: EndingStore})
    def delete(self, request: Request, store: str) -> Response:
        """Remove a store with all its rows.

        Its apps are uninstalled, and get an event that asks them to erase its data. Every call of the store is a 404 at once. Its id may be used again as soon
        as it is gone, which takes less than a minute.
        """
        end_store(system=self.system, external_id=store)
        return Response({"externalId": store, "state": "ENDING"}, status=202)


class StoreWanted(StoreView):
    tag = TAG

    @extend_schema(
        "getWanted",
        parameters=[IF_NONE_MATCH],
        responses={
            200: OpenApiResponse(WantedSerializer, "With an `ETag`."),
            304: OpenApiResponse(
                None, "It is as the `If-None-Match` says. It doesn't count towards the rate limit."
            ),
        },
    )
    def get(self, request: Request, store: str) -> HttpResponseBase:
        """Get what the store's apps read.

        It changes with installs, switches and pauses, and is right within a second.
        """
        wanted, asked = wanted_of(self.business), asked_of(self.business)
        found = {
            "products": True,
            "pages": True,
            "orders": wanted.orders,
            "reviews": wanted.reviews,
            "ordersSince": wanted.orders_since and iso(wanted.orders_since),
            "hookPoints": asked.hook_points,
            "placements": asked.placements,
        }
        etag = quote_etag(hashlib.sha256(orjson.dumps(found)).hexdigest())
        response = get_conditional_response(request, etag=etag) or Response(found)
        if response.status_code == 304:
            RATE.take_back(request)
        response["ETag"], response["Cache-Control"] = etag, "private, no-cache"
        return response


def _record(store: ConnectedStore) -> dict[str, Any]:
    store.business.connected = store
    return BusinessSerializer(store.business).data
