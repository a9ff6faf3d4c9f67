"""Product reviews by customers."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Avg, Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.enums import StoreNotice
from common.db.rows import get_or_not_found
from common.errors import Invalid, check_fields
from stores import signals
from stores.models import Product, Review
from stores.records import ReviewRecord
from stores.services.merchant_mails import note
from stores.services.totals import move_totals

WIRE_NAMES = {"rating": "rating", "comment": "comment", "author_name": "authorName", "author_email": "email"}


@transaction.atomic
def create_review(
    *,
    product: Product,
    rating: int,
    author_name: str,
    comment: str = "",
    author_email: str = "",
    cart_digest: str = "",
    now: datetime | None = None,
) -> Review:
    """`rating` is 1 to 5; `cart_digest` is that of the browser's cart. Raises `Invalid`, and `NotFound` if the product was
    deleted.
    """
    now = now or timezone.now()
    product = _lock_product(product.pk)
    review = Review(
        business=product.business,
        product=product,
        rating=rating,
        comment=comment,
        author_name=author_name,
        author_email=author_email,
        cart_digest=cart_digest,
        created_at=now,
    )
    if not 1 <= rating <= 5:
        raise Invalid.field("rating", "Must be from 1 to 5.")
    check_fields(review, WIRE_NAMES)
    review.save(force_insert=True)
    rate(Product.objects.filter(pk=product.pk))
    note(business=product.business, kind=StoreNotice.NEW_REVIEWS, now=now, about_id=review.pk)
    signals.review_created.send(sender=Review, review=ReviewRecord.of(review), now=now)
    move_totals(product.business, reviews=1)
    return review


@transaction.atomic
def delete_review(*, review: Review, now: datetime | None = None) -> None:
    """Raises `NotFound` if it was deleted meanwhile."""
    _lock_product(review.product_id)
    rows = Review.objects.select_for_update(of=("self",)).select_related("business")
    review = get_or_not_found(rows, review.pk, "Review not found")
    signals.review_deleted.send(sender=Review, review=ReviewRecord.of(review), now=now or timezone.now())
    review.delete()
    rate(Product.objects.filter(pk=review.product_id))
    move_totals(review.business, reviews=-1)


def rate(products: QuerySet[Product]) -> None:
    """Write the average and the number of their reviews into the products, whose rows are locked or new."""
    reviews = Review.objects.filter(product=OuterRef("pk")).order_by().values("product")
    products.update(
        rating=Coalesce(Subquery(reviews.annotate(average=Avg("rating")).values("average")), 0.0),
        review_count=Coalesce(Subquery(reviews.annotate(number=Count("pk")).values("number")), 0),
    )


def _lock_product(product_id: UUID) -> Product:
    """Keep the product from being deleted, and from getting another review, before the change is committed."""
    rows = Product.objects.select_related("business").select_for_update(no_key=True, of=("self",))
    return get_or_not_found(rows, product_id, _("Product not found"))
