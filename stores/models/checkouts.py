"""What apps answered for the checkout of a shop that isn't ours (contract, section 17, "Hooks"). Written by `stores.connected` alone."""

from typing import Final
from uuid import uuid4

from django.db import models
from django.utils import timezone

from accounts.models import EXTERNAL_ID, Business
from common.db.leases import LeaseField
from stores.enums import PaymentStatus
from stores.models.orders import Order

METHOD: Final = 200  # characters of `<app slug>:<id>`


class Quote(models.Model):
    """The answers before an order of a shop is placed, under the random id that the shop sends back with the order's row. Its answers never
    change: a later call of the same checkout makes a quote of its own, which holds the earlier ones, too.

    `answers` has for each hook point `{"asked": {…}, "answer": {…}, "parts": […]}`: the numbers that the apps were asked about, in minor
    units, what they answered together, and each app's part (`hookpoints.HookPart`). `spent` has the calls of the last
    minute, `[seconds since 1970, milliseconds]` each. `order` is the first one whose row brought it; `differs` are the amounts that the row
    has otherwise: `{"discount": [by the apps, by the row]}`, null for none.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="+")
    answers = models.JSONField()
    spent = models.JSONField(default=list)
    asked_at = models.DateTimeField(default=timezone.now, help_text="Its newest call.")
    order = models.ForeignKey(Order, on_delete=models.CASCADE, null=True, related_name="quotes")
    differs = models.JSONField(null=True)
    attributes = models.JSONField(null=True, help_text="Of the cart, as `Order.attributes`.")

    class Meta:
        indexes = [
            models.Index(fields=["asked_at"], name="quote_without_order", condition=models.Q(order=None)),
            models.Index(
                fields=["business", "asked_at"],
                name="quote_that_differs",
                condition=models.Q(differs__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"Quote of {self.business_id} at {self.asked_at:%Y-%m-%d %H:%M}"


class ShopPayment(models.Model):
    """A payment that an app makes for an order of a shop, often before the order's row comes.

    `order_id` is our id of the order, made at the first mention, and `order_external_id` the shop's. Opened before the app is asked, with
    `expires_at` then as in `services.payments.MAKING`; `is_made` once the app has answered. While the order's row names no other
    method, the order's `Payment` is a copy of this one. `row_amount` is what the row has to be paid, where that is not `amount`.

    The shop is notified of each change of the status but the first: `command_id` is that of the newest, `tell_at` is when it
    is tried next, null once there is nothing to tell, and `tell_since` when its first try was due.
    """

    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="+")
    order_id = models.UUIDField(unique=True)
    order_external_id = models.CharField(max_length=EXTERNAL_ID)
    provider = models.CharField(max_length=64, help_text="As `Payment.provider`.")
    method = models.CharField(max_length=METHOD, help_text="<app slug>:<the app's id of it>")
    amount = models.PositiveBigIntegerField(help_text="Minor units.")
    row_amount = models.PositiveBigIntegerField(null=True, help_text="Minor units.")
    currency = models.CharField(max_length=3)
    is_made = models.BooleanField(default=False)
    status = models.CharField(max_length=9, choices=PaymentStatus.choices, default=PaymentStatus.PENDING)
    payment_url = models.TextField(blank=True)
    qr_code = models.TextField(blank=True)
    invoice_id = models.CharField(max_length=200, blank=True)
    reference = models.CharField(max_length=200, blank=True)
    expires_at = models.DateTimeField(null=True)
    opened_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    command_id = models.UUIDField(null=True)
    tell_since = models.DateTimeField(null=True)
    tell_at = models.DateTimeField(null=True)
    told_times = models.PositiveIntegerField(default=0, help_text="Tries of the newest telling.")
    tried_until = LeaseField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["expires_at"],
                name="shop_payment_waiting",
                condition=models.Q(status=PaymentStatus.PENDING),
            ),
            models.Index(
                fields=["business", "opened_at"],
                name="shop_payment_that_differs",
                condition=models.Q(row_amount__isnull=False),
            ),
            models.Index(
                fields=["tell_at"], name="shop_payment_to_tell", condition=models.Q(tell_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"Payment of {self.order_external_id} of {self.business_id}: {self.status}"
