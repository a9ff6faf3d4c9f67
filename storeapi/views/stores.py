"""The stores of a connection, and what their apps want."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import ConnectedStore
from common.rest.schema import problem
from common.web.pagination import page_body
from storeapi.serializers import EndingStore, StoreBody
from storeapi.views.base import StoreApiView, StoreView
from stores.connected.stores import end_store, put_store
from stores.serializers import BusinessSerializer

TAG = "Connected stores"
DEFAULTED = ("locale", "timezone")  # what an empty text leaves to the default


class StoreList(StoreApiView):
    tag = TAG

    @extend_schema("listConnectedStores", responses=BusinessSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the stores of this connection."""
        page = self.query().page(default=self.page_default, maximum=self.page_maximum)
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

        Its apps are uninstalled and told to erase its data. Every call of the store is a 404 at once. Its id may be used again as soon
        as it is gone, which takes less than a minute.
        """
        end_store(system=self.system, external_id=store)
        return Response({"externalId": store, "state": "ENDING"}, status=202)

    def has_foreign_path(self) -> bool:
        """A PUT names a store that may not be there yet."""
        return self.request.method != "PUT" and super().has_foreign_path()


def _record(store: ConnectedStore) -> dict[str, Any]:
    store.business.connected = store
    return BusinessSerializer(store.business).data
