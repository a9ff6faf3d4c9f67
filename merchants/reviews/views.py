"""What customers say, and removing it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from common.errors import NotFound
from common.web.methods import require_safe
from common.web.pagination import page_request
from merchants.access import MerchantRequest, merchant_page
from merchants.constants import GET_OR_POST, ROWS, UNPROCESSABLE
from merchants.filter_forms import ReviewFilter, list_context
from merchants.store.queries import review_by_id, reviews_found
from stores import queries
from stores.models import Product
from stores.services.reviews import delete_review


@require_safe
@merchant_page
def review_list(request: MerchantRequest) -> HttpResponse:
    """Filters: `q`, a part of the product's name; `product`, one product's id; `rating`."""
    form = ReviewFilter(request.GET)
    wanted = page_request(request.GET, default=ROWS, maximum=ROWS)
    context = list_context(request, form, wanted, thing="review", icon="star")
    product = _product(request, form) if form.is_valid() else None
    if not form.is_valid():
        return render(request, "merchants/reviews/reviews.html", context, status=UNPROCESSABLE)
    chosen = form.cleaned_data
    del form.fields["q" if product else "product"]  # one of them is enough
    listing = reviews_found(
        request.business,
        product_name=chosen["q"],
        product_id=product.pk if product else None,
        rating=chosen["rating"],
    )
    context |= {"product": product, "rows": listing.rows[wanted.window], "total": listing.total}
    return render(request, "merchants/reviews/reviews.html", context)


def _product(request: MerchantRequest, form: ReviewFilter) -> Product | None:
    """The one product that is asked for; another's is an error of the form."""
    if not form.cleaned_data["product"]:
        return None
    try:
        return queries.product_by_id(request.business, form.cleaned_data["product"])
    except NotFound:
        form.add_error("product", "This product doesn't exist.")
        return None


@require_http_methods(GET_OR_POST)
@merchant_page
def delete(request: MerchantRequest, review_id: str) -> HttpResponse:
    """Shows the review, and asks."""
    review = review_by_id(request.business, review_id)
    if request.method == "POST":
        delete_review(review=review)
        messages.success(request, f"The review of {review.product.name} by {review.author_name} removed.")
        return redirect("merchants:reviews")
    return render(request, "merchants/reviews/delete.html", {"review": review})
