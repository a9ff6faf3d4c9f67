"""The clock of a store of a connection for tests."""

from datetime import timedelta

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import NotFound
from storeapi.views.base import StoreView
from teststores.serializers import AdvanceBody, AdvancedSerializer, advanced_payload
from teststores.services import advance


class Advance(StoreView):
    tag = "Connected stores"
    is_one_transaction = False  # the clock is moved before what falls due is looked for

    @extend_schema("advanceConnectedStore", request=AdvanceBody, responses=AdvancedSerializer)
    def post(self, request: Request, store: str) -> Response:
        """Let the clock of a store of a connection for tests go on.

        Everything that falls due within that time is due now, in its order: retries, erasures, expiring payments, idempotency keys,
        automatic disabling, breakers. Attempts follow within seconds. Nothing outside the store moves.
        """
        body = self.read(AdvanceBody)
        if not self.system.is_test:
            raise NotFound("Only a connection for tests has stores whose clocks can be moved.")
        return Response(advanced_payload(advance(store=self.store, by=timedelta(seconds=body["seconds"]))))
