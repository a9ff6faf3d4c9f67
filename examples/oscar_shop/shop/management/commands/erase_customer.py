"""`manage.py erase_customer EMAIL`: erases a customer here, and at the platform and its apps."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction
from django.db.models import Q
from extension_platform_store.django.connection import client
from oscar.core.loading import get_model


class Command(BaseCommand):
    help = "Erases a customer here, and at the platform and its apps. Run it again if it fails."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        self.stdout.write(client().erase_customer(email=email))
        orders = get_model("order", "Order").objects.filter(
            Q(guest_email__iexact=email) | Q(user__email__iexact=email)
        )
        with transaction.atomic():
            for order in orders.select_related("shipping_address", "billing_address", "user"):
                for address in filter(None, (order.shipping_address, order.billing_address)):
                    address.delete()
                user, order.user, order.guest_email = order.user, None, ""
                order.shipping_address = order.billing_address = None
                order.save()
                if user and not user.is_staff:
                    user.delete()
