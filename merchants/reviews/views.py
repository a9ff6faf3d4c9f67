"""What customers say, and removing it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from common.errors import NotFound
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import GET_OR_POST, require_safe
from merchants.access import MerchantRequest, orders_page, own_row
from merchants.lists import ReviewFilter, list_context
from merchants.store.queries import reviews_found
from stores import queries
from stores.models import Product, Review
from stores.services.reviews import delete_review


@require_safe
@orders_page
def review_list(request: MerchantRequest) -> HttpResponse:
    """Filters: `q`, a part of the product's name; `product`, one product's id; `rating`."""
    form = ReviewFilter(request.GET)
    context = list_context(request, "review", "star", form)
    product = _product(request, form) if form.is_valid() else None
    if not form.is_valid():
        return render(request, "merchants/reviews/reviews.html", context, status=UNPROCESSABLE)
    chosen = form.cleaned_data
    listing = reviews_found(
        request.business,
        product_name=chosen["q"],
        product_id=product.pk if product else None,
        rating=chosen["rating"],
    )
    rows, total = listing.page(context["page_request"].window)
    context |= {"product": product, "rows": rows, "total": total}
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
@orders_page
def delete(request: MerchantRequest, review_id: str) -> HttpResponse:
    """Shows the review, and asks."""
    review = own_row(request, Review.objects.select_related("product"), review_id, "Review")
    if request.method == "POST":
        delete_review(review=review)
        messages.success(request, f"The review of {review.product.name} is removed.")
        return redirect("merchants:reviews")
    return render(request, "merchants/reviews/delete.html", {"review": review})
