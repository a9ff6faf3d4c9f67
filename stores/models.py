"""The models of a plain store. Money is in minor units of the business's currency (`common.money`)."""

from typing import Any

from django.core.files.storage import default_storage
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property

from accounts.models import Business
from common.db.fields import EncryptedTextField
from common.ids import new_id
from stores.addresses import picture_path, thumbnail_path
from stores.enums import (
    Accent,
    ActorKind,
    DeliveryMethod,
    HookOutcome,
    OrderChangeKind,
    OrderStatus,
    OrderValidation,
    PaymentStatus,
    ProductStatus,
)

DEFAULT_DELIVERY_FEE = 500  # minor units


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


class StoredPicture(models.Model):
    """An uploaded picture, re-encoded by `stores.services.pictures`. Its file never changes; another picture is another row."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    file = models.FileField(upload_to="stores/", storage=default_storage, max_length=200)
    thumbnail = models.FileField(
        upload_to="stores/",
        storage=default_storage,
        max_length=200,
        help_text="The same picture, at most 480 pixels wide and high.",
    )
    content_type = models.CharField(max_length=20, help_text="Of both files.")
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    alt = models.CharField(
        "description", max_length=200, blank=True, help_text="For people who can't see the picture."
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.alt or str(self.id)

    @property
    def path(self) -> str:
        return picture_path(self.id)

    @property
    def thumbnail_path(self) -> str:
        return thumbnail_path(self.path)


class StorePicture(StoredPicture):
    """The logo or the large picture of a store. `StoreSettings` refers to the current ones."""

    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="store_pictures")


class StoreSettings(models.Model):
    """A merchant's store settings. There is no row before the first change: `queries.store_settings` knows the defaults.

    Changed only by `stores.services.settings`.
    """

    business = models.OneToOneField(
        Business, on_delete=models.CASCADE, primary_key=True, related_name="store_settings"
    )
    delivery_fee = models.PositiveBigIntegerField(
        default=DEFAULT_DELIVERY_FEE, help_text="Minor units, for one delivery."
    )
    accent = models.CharField(
        "color", max_length=12, choices=Accent.choices, default=Accent.GRAPHITE, db_default=Accent.GRAPHITE
    )
    tagline = models.CharField(
        max_length=120, blank=True, default="", db_default="", help_text="One line about the store."
    )
    hero_text = models.CharField(
        "welcome text",
        max_length=400,
        blank=True,
        default="",
        db_default="",
        help_text="At the top of the home page.",
    )
    logo = models.ForeignKey(
        StorePicture, on_delete=models.SET_NULL, null=True, blank=True, db_index=False, related_name="+"
    )
    hero_picture = models.ForeignKey(
        StorePicture, on_delete=models.SET_NULL, null=True, blank=True, db_index=False, related_name="+"
    )
    seen_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When the merchant first opened the store as shoppers see it.",
    )

    class Meta:
        verbose_name_plural = "store settings"
        indexes = [
            models.Index(fields=["logo"], name="store_logo", condition=models.Q(logo__isnull=False)),
            models.Index(
                fields=["hero_picture"],
                name="store_hero_picture",
                condition=models.Q(hero_picture__isnull=False),
            ),
        ]

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
        help_text="Path under the site's address: of the first `ProductPicture`, or such as /static/images/product.svg.",
        validators=[RegexValidator(r"^/[^/\\]", "Must be a path that begins with one slash.")],
    )
    status = models.CharField(max_length=8, choices=ProductStatus.choices, default=ProductStatus.ACTIVE)
    stock = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: not tracked.")
    low_stock_threshold = models.PositiveIntegerField(null=True, blank=True)
    rating = models.FloatField(
        default=0, db_default=0, editable=False, help_text="The average of its reviews; 0 without any."
    )
    review_count = models.PositiveIntegerField(default=0, db_default=0, editable=False)
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
                "business",
                models.F("rating").desc(),
                models.F("review_count").desc(),
                models.F("id").desc(),
                name="product_rated",
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


class ProductPicture(StoredPicture):
    """A picture of a product. Changed only by `stores.services.product_pictures`, which keeps the path of the first
    in `Product.image`, so that lists of products need no further query.
    """

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="pictures", db_index=False)
    position = models.PositiveSmallIntegerField(help_text="0 is the first.")

    class Meta:
        ordering = ["position", "id"]
        indexes = [models.Index(fields=["product", "position"], name="picture_of_product")]


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
    payment_method_name = models.CharField(
        max_length=200, blank=True, default="", db_default="", help_text="As the app that offers it names it."
    )
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


class OrderChange(models.Model):
    """A line of an order's history: who did what, and when. Written by `stores.services.history`, never changed.

    `status` and `previous` are values of `OrderStatus`, or of `PaymentStatus` for payments.
    """

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="changes", db_index=False)
    at = models.DateTimeField(default=timezone.now, editable=False)
    kind = models.CharField(max_length=12, choices=OrderChangeKind.choices)
    previous = models.CharField(max_length=12, blank=True)
    status = models.CharField(max_length=12, blank=True)
    note = models.CharField(max_length=300, blank=True)
    actor = models.CharField(max_length=8, choices=ActorKind.choices, default=ActorKind.SYSTEM)
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
    outcome = models.CharField(max_length=8, choices=HookOutcome.choices)
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
    source = models.TextField(
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The Markdown that `content` was made from.",
    )
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


class BuyerMails(models.Model):
    """How many mails a store has sent to buyers on its newest day with any, in UTC. Only in a store's first days."""

    business = models.OneToOneField(
        Business, on_delete=models.CASCADE, primary_key=True, related_name="buyer_mails"
    )
    day = models.DateField()
    sent = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "buyer mails"

    def __str__(self) -> str:
        return f"{self.sent} on {self.day}"


class WaitingMail(models.Model):
    """A mail to a buyer that was over a new store's limit. Made, sent and removed by `stores.services.order_mails`.

    `status` is the one that it reports; empty for a new order, whose page `page_key` opens.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="waiting_mails")
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="waiting_mails")
    status = models.CharField(max_length=16, blank=True, choices=OrderStatus.choices)
    page_key = EncryptedTextField(default="")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"Mail about {self.order_id}"
