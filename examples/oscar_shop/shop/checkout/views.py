from oscar.apps.checkout import views

from shop.adapter import CheckoutMixin


class PaymentDetailsView(CheckoutMixin, views.PaymentDetailsView):
    """Where the customer confirms."""
