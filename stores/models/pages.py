"""Pages of a store, and reviews by its shoppers."""

from django.core.validators import MaxLengthValidator
from django.db import models
from django.utils import timezone

from accounts.models import Business
from common import lengths
from common.contacts import kept_email_key
from common.db.fields import EmailField, KeyField
from common.ids import new_id
from stores.models.products import Product


class Review(models.Model):
    """A customer's review of a product. Created and deleted by `services.reviews`; `services.customer_erasure` blanks name and words.

    `author_email` and `cart_digest` only find it when its author asks for that. Neither is ever shown.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="reviews")
    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="reviews")
    rating = models.PositiveSmallIntegerField()
    comment = models.TextField(blank=True, validators=[MaxLengthValidator(lengths.NOTE)])
    author_name = models.CharField(max_length=lengths.PERSON)
    author_email = EmailField(blank=True, default="", db_default="", editable=False)
    author_email_key = KeyField(max_length=254, of="author_email", key=kept_email_key)
    cart_digest = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
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
    slug = models.SlugField(max_length=120)
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
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["business", "slug"], name="page_slug_in_business")]

    def __str__(self) -> str:
        return self.title
