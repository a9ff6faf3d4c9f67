"""Product reviews by customers."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from common.db.finders import get_or_not_found
from common.errors import Invalid
from common.validation import check_fields
from stores import signals
from stores.models import Product, Review
from stores.services.totals import move_totals

WIRE_NAMES = {"rating": "rating", "comment": "comment", "author_name": "authorName"}


@transaction.atomic
def create_review(
    *, product: Product, rating: int, author_name: str, comment: str = "", now: datetime | None = None
) -> Review:
    """`rating` is 1 to 5. Raises `Invalid`, and `NotFound` if the product was deleted."""
    now = now or timezone.now()
    product = _lock_product(product)
    review = Review(
        business=product.business,
        product=product,
        rating=rating,
        comment=comment,
        author_name=author_name,
        created_at=now,
    )
    if not 1 <= rating <= 5:
        raise Invalid.field("rating", "Must be from 1 to 5.")
    check_fields(review, WIRE_NAMES)
    review.save(force_insert=True)
    signals.review_created.send(sender=Review, review=review, now=now)
    move_totals(product.business, reviews=1)
    return review


@transaction.atomic
def delete_review(*, review: Review, now: datetime | None = None) -> None:
    """Raises `NotFound` if it was deleted meanwhile."""
    rows = Review.objects.select_for_update(of=("self",)).select_related("business")
    review = get_or_not_found(rows, review.pk, "Review not found")
    signals.review_deleted.send(sender=Review, review=review, now=now or timezone.now())
    Review.objects.filter(pk=review.pk).delete()  # receivers may keep the instance, so it must stay intact
    move_totals(review.business, reviews=-1)


def _lock_product(product: Product) -> Product:
    """Keep the product from being deleted before the review is committed."""
    rows = Product.objects.select_related("business").select_for_update(no_key=True, of=("self",))
    return get_or_not_found(rows, product.pk, "Product not found")
