"""What a store sells, its pages, and reviews by its shoppers."""

from typing import Final

from django.core.validators import MaxLengthValidator, RegexValidator
from django.db import models
from django.utils import timezone

from accounts.models import Business
from common import lengths
from common.contacts import kept_email_key
from common.db.fields import EmailField, KeyField
from common.ids import new_id
from stores.enums import ProductStatus
from stores.models.mirror import external_id
from stores.models.settings import StoredPicture

PAGE_SLUG: Final = 120  # characters


class Product(models.Model):
    """A product. Changed only by `stores.services.catalogue.products` and `.stock`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="products")
    name = models.CharField(max_length=lengths.NAME)
    slug = models.SlugField(max_length=lengths.NAME)
    description = models.TextField(blank=True, validators=[MaxLengthValidator(lengths.DESCRIPTION)])
    price = models.PositiveBigIntegerField(help_text="Minor units.")
    category = models.CharField(max_length=lengths.NAME, blank=True)
    is_available = models.BooleanField(
        default=True, help_text="The merchant's switch; it does not follow stock."
    )
    image = models.CharField(
        max_length=2000,
        blank=True,
        help_text="Path under the site's address: of the first `ProductPicture`, or such as /static/images/product.svg. The shop's URL in a mirrored row.",
        validators=[RegexValidator(r"^/[^/\\]", "Must be a path that begins with one slash.")],
    )
    status = models.CharField(max_length=8, choices=ProductStatus.choices, default=ProductStatus.ACTIVE)
    stock = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: not tracked.")
    low_stock_threshold = models.PositiveIntegerField(null=True, blank=True)
    rating = models.FloatField(
        default=0, db_default=0, editable=False, help_text="The average of its reviews; 0 without any."
    )
    review_count = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    external_id = external_id()
    group_id = models.CharField(
        max_length=lengths.NAME,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="Of a mirrored row: the same for all variants of one thing.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["business", "slug"], name="product_slug_in_business")]
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
    """A picture of a product. Changed only by `stores.services.catalogue.pictures`, which keeps the path of the first
    in `Product.image`, so that lists of products need no further query.
    """

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="pictures", db_index=False)
    position = models.PositiveSmallIntegerField(help_text="0 is the first.")

    class Meta:
        ordering = ["position", "id"]
        indexes = [models.Index(fields=["product", "position"], name="picture_of_product")]


# --- Pages and reviews -------------------------------------------------------------------------------


class Review(models.Model):
    """A customer's review of a product. Created and deleted by `services.reviews`; `services.customer_erasure` blanks name and words.

    `author_email` and `cart_digest` only find it when its author asks for that. Neither is ever shown. Of a mirrored review the
    product may not be there (yet), or have been deleted: then `product_id` is that of its mention, and `product` raises `DoesNotExist`.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="reviews")
    product = models.ForeignKey(
        Product, on_delete=models.CASCADE, db_constraint=False, related_name="reviews"
    )
    rating = models.PositiveSmallIntegerField()
    comment = models.TextField(blank=True, validators=[MaxLengthValidator(lengths.NOTE)])
    author_name = models.CharField(max_length=lengths.NAME, validators=[MaxLengthValidator(lengths.PERSON)])
    author_email = EmailField(blank=True, default="", db_default="", editable=False)
    author_email_key = KeyField(max_length=254, of="author_email", key=kept_email_key)
    cart_digest = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    external_id = external_id()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(rating__gte=1, rating__lte=5), name="review_rating_1_to_5"
            )
        ]
        indexes = [
            models.Index("business", models.F("id").desc(), name="review_newest"),
            models.Index(
                fields=["author_email_key", "business"],
                name="review_of_email_key",
                condition=models.Q(author_email_key__gt=""),
            ),
            models.Index(
                fields=["business"], name="review_without_key", condition=models.Q(author_email_key=None)
            ),
            models.Index(
                fields=["cart_digest", "business"],
                name="review_from_cart",
                condition=~models.Q(cart_digest=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rating}/5 for {self.product_id}"  # without the author: the admin's log keeps it


class SitePage(models.Model):
    """A content page of the storefront, such as "About us" or opening hours."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="pages")
    slug = models.SlugField(max_length=lengths.NAME, validators=[MaxLengthValidator(PAGE_SLUG)])
    title = models.CharField(max_length=lengths.NAME)
    content = models.TextField(blank=True, help_text="HTML.", validators=[MaxLengthValidator(lengths.PAGE)])
    source = models.TextField(
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The Markdown that `content` was made from.",
    )
    is_published = models.BooleanField(default=True)
    external_id = external_id()
    url = models.TextField(
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="Of a mirrored row: its page in the shop.",
    )
    is_framable = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="Whether the page in the shop could be framed by ours at the last look.",
    )
    framing_looked_at = models.DateTimeField(
        null=True, editable=False, help_text="Null: no look at its URL yet."
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["business", "slug"], name="page_slug_in_business")]

    def __str__(self) -> str:
        return self.title
