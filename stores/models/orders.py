"""Orders, their payments, and what apps had a part in."""

from typing import Any

from django.core.validators import MaxLengthValidator
from django.db import models
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.functional import cached_property

from accounts.models import Business
from common import lengths
from common.contacts import kept_email_key, kept_phone_key
from common.db.fields import EmailField, KeyField, PhoneField
from common.ids import new_id
from stores import enums
from stores.models.mirror import external_id

# Whose order it is: the e-mail address, or the phone number of one without. Without parameters, so that PostgreSQL finds the index.
PERSON: Any = Coalesce(
    models.Func("customer_email_key", template="NULLIF(%(expressions)s, '')"),
    "customer_phone_key",
    output_field=models.CharField(),
)


class Order(models.Model):
    """A customer's order. Only `services.checkout.place_order` creates one, and only `services.orders` changes its status and
    what was refunded. Those of a connected store are written by `stores.connected` alone.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="orders")
    number = models.CharField(max_length=50)
    status = models.CharField(
        max_length=12, choices=enums.OrderStatus.choices, default=enums.OrderStatus.PENDING
    )
    subtotal = models.PositiveBigIntegerField()
    discount = models.PositiveBigIntegerField(default=0, help_text="Promo discount included.")
    discount_reason = models.CharField(max_length=300, blank=True, help_text="Shown to the customer.")
    delivery_fee = models.PositiveBigIntegerField(default=0)
    other_charges = models.BigIntegerField(
        default=0, db_default=0, help_text="Surcharges and fees of a mirrored order; may be negative."
    )
    amount = models.PositiveBigIntegerField()
    currency = models.CharField(max_length=3)
    delivery_method = models.CharField(max_length=8, choices=enums.DeliveryMethod.choices)
    address = models.TextField(blank=True, validators=[MaxLengthValidator(lengths.ADDRESS)])
    payment_method = models.CharField(max_length=200)
    payment_method_name = models.CharField(
        max_length=200, blank=True, default="", db_default="", help_text="As the app that offers it names it."
    )
    customer_name = models.CharField(max_length=lengths.NAME, validators=[MaxLengthValidator(lengths.PERSON)])
    customer_email = EmailField(blank=True)
    customer_phone = PhoneField(max_length=lengths.PHONE, blank=True)
    customer_email_key = KeyField(max_length=254, of="customer_email", key=kept_email_key)
    customer_phone_key = KeyField(max_length=40, of="customer_phone", key=kept_phone_key)
    note = models.TextField(blank=True, validators=[MaxLengthValidator(lengths.NOTE)])
    refunded = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Minor units, as the merchant recorded it."
    )
    is_guest = models.BooleanField(default=True)
    page_key_digest = models.CharField(
        max_length=64,
        null=True,
        unique=True,
        editable=False,
        help_text="SHA-256 of the key that opens the order's page in the storefront; null for orders placed elsewhere.",
    )
    cart_digest = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="Of the `Cart` that it was placed from, so that reviews from the same browser can be found.",
    )
    validation = models.CharField(
        max_length=13, choices=enums.OrderValidation.choices, default=enums.OrderValidation.VALID
    )
    external_id = external_id()
    attributes = models.JSONField(
        null=True,
        editable=False,
        help_text="What apps have put there: texts by their keys, by the app as `OrderHookPart.provider` names it. Null without any.",
    )
    proven_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="When somebody first confirmed it on the page behind the mailed link.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            # A shop may use a number twice.
            models.UniqueConstraint(
                fields=["business", "number"],
                condition=models.Q(external_id=None),
                name="order_number_of_own_order",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    amount=models.F("subtotal")
                    - models.F("discount")
                    + models.F("delivery_fee")
                    + models.F("other_charges")
                ),
                name="order_amount_is_the_sum",
            ),
        ]
        indexes = [
            models.Index("business", models.F("id").desc(), name="order_newest"),
            models.Index(fields=["business", "created_at"], name="order_by_time"),
            models.Index("business", "status", models.F("id").desc(), name="order_in_status"),
            models.Index(fields=["business", "updated_at"], name="order_updated"),
            models.Index(
                fields=["customer_email_key", "business"],
                name="order_of_email_key",
                condition=models.Q(customer_email_key__gt=""),
            ),
            models.Index(
                fields=["customer_phone_key", "business"],
                name="order_of_phone_key",
                condition=models.Q(customer_phone_key__gt=""),
            ),
            models.Index("business", PERSON, models.F("id").desc(), name="order_of_person"),
            models.Index(
                fields=["business"],
                name="order_with_attributes",
                condition=models.Q(attributes__isnull=False),
            ),
            models.Index(
                fields=["business"],
                name="order_without_keys",
                condition=models.Q(customer_email_key=None),
            ),
        ]

    def __str__(self) -> str:
        return f"Order {self.number}"

    @cached_property
    def lines(self) -> list["OrderItem"]:
        """Its items, read once. Lists prefetch them with `LINES`."""
        return list(self.items.all())


class OrderItem(models.Model):
    """An order line, with name and price at the time of the order. The product may have been deleted since. A shop may have lines of
    none.
    """

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="items")
    product_id = models.UUIDField(null=True, db_index=True)
    name = models.CharField(max_length=200)
    quantity = models.PositiveIntegerField()
    price = models.PositiveBigIntegerField(help_text="Minor units, for one unit.")
    from_stock = models.BooleanField(
        default=False, help_text="Taken from tracked stock, so cancelling returns it."
    )

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.quantity} × {self.name}"


LINES: Any = models.Prefetch("items", to_attr="lines")  # mypy would see a different `lines`


class Payment(models.Model):
    """A payment made by an app's `checkout.create_payment`. Changed only by `services.payments`. One that came with a mirrored order has
    no provider, and follows that row alone.

    PENDING becomes COMPLETED, FAILED or EXPIRED, which are final, except that after FAILED or EXPIRED the customer may
    choose again, which makes it PENDING. `provider` is the one of `hookpoints.PaymentMethod`; only that app may settle
    the payment.
    """

    order = models.OneToOneField(Order, on_delete=models.CASCADE, related_name="payment")
    provider = models.CharField(
        max_length=64, help_text="Identifies the app that made the payment; `stores` doesn't interpret it."
    )
    status = models.CharField(
        max_length=9, choices=enums.PaymentStatus.choices, default=enums.PaymentStatus.PENDING
    )
    payment_url = models.TextField(blank=True)
    qr_code = models.TextField(blank=True)
    invoice_id = models.CharField(max_length=200, blank=True)
    reference = models.CharField(max_length=200, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        indexes = [
            models.Index(
                "expires_at", name="payment_waiting", condition=models.Q(status=enums.PaymentStatus.PENDING)
            )
        ]

    def __str__(self) -> str:
        return f"Payment of order {self.order_id}"


class OrderChange(models.Model):
    """A line of an order's history: who did what, and when. Written by `stores.services.history`, never changed.

    `status` and `previous` are values of `OrderStatus`, or of `PaymentStatus` for payments. A note for the staff is for the merchant
    alone; the `note` and `amount` of a refund are for the buyer, too.
    """

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="changes", db_index=False)
    at = models.DateTimeField(default=timezone.now, editable=False)
    kind = models.CharField(max_length=12, choices=enums.OrderChangeKind.choices)
    previous = models.CharField(max_length=12, blank=True)
    status = models.CharField(max_length=12, blank=True)
    note = models.CharField(max_length=lengths.NOTE, blank=True)
    amount = models.PositiveBigIntegerField(null=True, blank=True, help_text="Minor units, of a refund.")
    actor = models.CharField(max_length=8, choices=enums.ActorKind.choices, default=enums.ActorKind.SYSTEM)
    actor_id = models.UUIDField(
        null=True, blank=True, help_text="Of the person or the app; `stores` doesn't interpret an app's."
    )
    actor_name = models.CharField(max_length=120, blank=True, help_text="The name at that time.")

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["order", "id"], name="change_of_order")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of order {self.order_id}"


class OrderHookPart(models.Model):
    """An app's part in an order: the answer of one hook, or what the store did without one. Never changed."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="hook_parts", db_index=False)
    point = models.CharField(max_length=32, help_text="A value of `hookpoints.HookPoint`.")
    provider = models.CharField(
        max_length=64, blank=True, help_text="Identifies the app; `stores` doesn't interpret it."
    )
    app_name = models.CharField(max_length=80, help_text="The name at that time.")
    outcome = models.CharField(max_length=8, choices=enums.HookOutcome.choices)
    amount = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Minor units: the discount that counted, or the fee."
    )
    reason = models.CharField(max_length=300, blank=True, help_text="The app's reason.")
    instead = models.CharField(
        max_length=300, blank=True, help_text="What the store did instead, or changed."
    )
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["order", "id"], name="hook_part_of_order")]

    def __str__(self) -> str:
        return f"{self.app_name} at {self.point}"
