"""How an order of this business can be paid for at this moment."""

from rest_framework.request import Request
from rest_framework.response import Response

from appapi.views.base import AppApiView
from stores.hookpoints import ask_payment_methods
from stores.records import payment_methods_record


class PaymentMethods(AppApiView):
    required_scope = "write_orders"

    def get(self, request: Request) -> Response:
        """What the checkout would offer. The apps that offer methods are asked, which may take ten seconds."""
        return Response(payment_methods_record(ask_payment_methods(business=self.business)))
