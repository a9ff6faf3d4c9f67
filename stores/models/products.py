"""What a store sells."""

from django.core.validators import MaxLengthValidator, RegexValidator
from django.db import models
from django.utils import timezone

from accounts.models import Business
from common import lengths
from common.ids import new_id
from stores.enums import ProductStatus
from stores.models.settings import StoredPicture


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
    """A picture of a product. Changed only by `stores.services.catalogue.product_pictures`, which keeps the path of the first
    in `Product.image`, so that lists of products need no further query.
    """

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="pictures", db_index=False)
    position = models.PositiveSmallIntegerField(help_text="0 is the first.")

    class Meta:
        ordering = ["position", "id"]
        indexes = [models.Index(fields=["product", "position"], name="picture_of_product")]
