"""The models of a plain store. Money is in minor units of the business's currency (`common.money`)."""

from typing import Any

from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property

from accounts.models import Business
from common.db.fields import EncryptedTextField
from common.ids import new_id
from stores.enums import (
    DeliveryMethod,
    OrderStatus,
    OrderValidation,
    PaymentStatus,
    ProductStatus,
)


class StoreTotals(models.Model):
    """Counts of a business's records, so that lists need not count their table for `total`.

    Updated by the services that create and remove rows, last in their transaction, because all changes of a business
    share this row. `last_order_number` hands out order numbers.
    """

    business = models.OneToOneField(
        Business, on_delete=models.CASCADE, primary_key=True, related_name="totals"
    )
    products = models.PositiveIntegerField(
        default=0, help_text="Listed products; archived ones are not counted."
    )
    orders = models.PositiveIntegerField(default=0)
    reviews = models.PositiveIntegerField(default=0)
    last_order_number = models.PositiveIntegerField(default=1000)
    rank_changes = models.PositiveBigIntegerField(
        default=0, help_text="How often a list has changed other than by a new row at the top."
    )

    class Meta:
        verbose_name_plural = "store totals"

    def __str__(self) -> str:
        return f"Totals of {self.business_id}"


class StoreSettings(models.Model):
    """A merchant's store settings. There is no row before the first change; `queries.delivery_fee` knows the defaults."""

    business = models.OneToOneField(
        Business, on_delete=models.CASCADE, primary_key=True, related_name="store_settings"
    )
    delivery_fee = models.PositiveBigIntegerField(help_text="Minor units, for one delivery.")

    class Meta:
        verbose_name_plural = "store settings"

    def __str__(self) -> str:
        return f"Settings of {self.business_id}"


class Product(models.Model):
    """A product. Changed only by `stores.services.products` and `.stock`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="products")
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=200)
    description = models.TextField(blank=True)
    price = models.PositiveBigIntegerField(help_text="Minor units.")
    category = models.CharField(max_length=80, blank=True)
    is_available = models.BooleanField(
        default=True, help_text="The merchant's switch; it does not follow stock."
    )
    image = models.CharField(
        max_length=200,
        blank=True,
        help_text="Path under the site's address, such as /static/images/product.svg.",
        validators=[RegexValidator(r"^/[^/\\]", "Must be a path that begins with one slash.")],
    )
    status = models.CharField(max_length=8, choices=ProductStatus.choices, default=ProductStatus.ACTIVE)
    stock = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: not tracked.")
    low_stock_threshold = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["business", "slug"], name="product_slug_in_business"),
        ]
        indexes = [
            models.Index(
                "business",
                models.F("id").desc(),
                name="product_listed",
                condition=models.Q(status=ProductStatus.ACTIVE),
            ),
            # The filters of lists. `search` has an index of PostgreSQL's own (migration 0002).
            models.Index(
                "business",
                "category",
                models.F("id").desc(),
                name="product_in_category",
                condition=models.Q(status=ProductStatus.ACTIVE),
            ),
            models.Index(
                "business",
                "is_available",
                models.F("id").desc(),
                name="product_available",
                condition=models.Q(status=ProductStatus.ACTIVE),
            ),
            models.Index(
                fields=["business", "updated_at"],
                name="product_updated",
                condition=models.Q(status=ProductStatus.ACTIVE),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Order(models.Model):
    """A customer's order. Only `services.checkout.place_order` creates one, and only `services.orders.change_order_status`
    changes its status.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="orders")
    number = models.CharField(max_length=20)
    status = models.CharField(max_length=12, choices=OrderStatus.choices, default=OrderStatus.PENDING)
    subtotal = models.PositiveBigIntegerField()
    discount = models.PositiveBigIntegerField(default=0, help_text="Promo discount included.")
    discount_reason = models.CharField(max_length=300, blank=True, help_text="Shown to the customer.")
    delivery_fee = models.PositiveBigIntegerField(default=0)
    amount = models.PositiveBigIntegerField()
    currency = models.CharField(max_length=3)
    delivery_method = models.CharField(max_length=8, choices=DeliveryMethod.choices)
    address = models.TextField(blank=True)
    payment_method = models.CharField(max_length=200)
    customer_name = models.CharField(max_length=120)
    customer_email = models.EmailField(blank=True)
    customer_phone = models.CharField(max_length=40, blank=True)
    note = models.TextField(blank=True)
    is_guest = models.BooleanField(default=True)
    page_key_digest = models.CharField(
        max_length=64,
        null=True,
        unique=True,
        editable=False,
        help_text="SHA-256 of the key that opens the order's page in the storefront; null for orders placed elsewhere.",
    )
    validation = models.CharField(
        max_length=13, choices=OrderValidation.choices, default=OrderValidation.VALID
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["business", "number"], name="order_number_in_business"),
            models.CheckConstraint(
                condition=models.Q(
                    amount=models.F("subtotal") - models.F("discount") + models.F("delivery_fee")
                ),
                name="order_amount_adds_up",
            ),
        ]
        indexes = [
            models.Index("business", models.F("id").desc(), name="order_newest"),
            models.Index(fields=["business", "created_at"], name="order_by_time"),
            models.Index("business", "status", models.F("id").desc(), name="order_in_status"),
            models.Index(fields=["business", "updated_at"], name="order_updated"),
        ]

    def __str__(self) -> str:
        return f"Order {self.number}"

    @cached_property
    def lines(self) -> list["OrderItem"]:
        """Its items, read once. Lists prefetch them with `LINES`."""
        return list(self.items.all())


class OrderItem(models.Model):
    """An order line, with name and price at the time of the order. The product may have been deleted since."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="items")
    product_id = models.UUIDField(db_index=True)
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
    """A payment made by an app's `checkout.create_payment`. Changed only by `services.payments`.

    PENDING becomes COMPLETED, FAILED or EXPIRED, which are final, except that after FAILED or EXPIRED the customer may
    choose again, which makes it PENDING. `provider` is the one of `hookpoints.PaymentMethod`; only that app may settle
    the payment.
    """

    order = models.OneToOneField(Order, on_delete=models.CASCADE, related_name="payment")
    provider = models.CharField(
        max_length=64, help_text="Identifies the app that made the payment; `stores` doesn't interpret it."
    )
    status = models.CharField(max_length=9, choices=PaymentStatus.choices, default=PaymentStatus.PENDING)
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
                "expires_at", name="payment_waiting", condition=models.Q(status=PaymentStatus.PENDING)
            ),
        ]

    def __str__(self) -> str:
        return f"Payment of order {self.order_id}"


class Review(models.Model):
    """A customer's review of a product. Created and deleted by `services.reviews`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="reviews")
    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="reviews")
    rating = models.PositiveSmallIntegerField()
    comment = models.TextField(blank=True)
    author_name = models.CharField(max_length=120)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(rating__gte=1, rating__lte=5), name="review_rating_1_to_5"
            )
        ]
        indexes = [models.Index("business", models.F("id").desc(), name="review_newest")]

    def __str__(self) -> str:
        return f"{self.rating}/5 by {self.author_name}"


class SitePage(models.Model):
    """A content page of the storefront, such as "About us" or opening hours."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="pages")
    slug = models.SlugField(max_length=120)
    title = models.CharField(max_length=200)
    content = models.TextField(blank=True, help_text="HTML.")
    is_published = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["business", "slug"], name="page_slug_in_business")]

    def __str__(self) -> str:
        return self.title


class Cart(models.Model):
    """What a shopper's browser has gathered in one store, and the latest orders that it placed there.

    It knows no person. Changed only by `stores.services.carts`.
    """

    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="carts")
    key_digest = models.CharField(max_length=64, help_text="SHA-256 of the key in the browser's cookie.")
    lines = models.JSONField(default=list, help_text='Of {"product", "name", "quantity"}.')
    orders = EncryptedTextField(
        default="[]", help_text='JSON, newest first: of {"key", "number"}; the key opens the order\'s page.'
    )
    notices = models.JSONField(
        default=list, help_text="Level and text of what the next page tells the shopper."
    )
    updated_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key_digest", "business"], name="cart_of_key_in_business")
        ]

    def __str__(self) -> str:
        return f"Cart {self.pk}"
