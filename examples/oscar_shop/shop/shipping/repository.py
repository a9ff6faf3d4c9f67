from decimal import Decimal

from oscar.apps.shipping import methods, repository

from shop.adapter import ShippingMixin


class Standard(methods.FixedPrice):
    code, name = "standard", "Standard delivery"
    charge_excl_tax = charge_incl_tax = Decimal("3.90")


class Repository(ShippingMixin, repository.Repository):
    """One way of delivery, whose price apps may set."""

    methods = (Standard(),)
