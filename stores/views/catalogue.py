"""Looking around: products, one product with its reviews, the shop's own pages."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from common.auth_limits import limit_by_address
from common.errors import Conflict, TooManyRequests
from common.pages import page_request
from stores import queries
from stores.cart import shortage
from stores.forms import QuantityForm, ReviewForm
from stores.models import Product
from stores.services.reviews import create_review
from stores.views.access import ShopRequest, shop_page, shop_render

PRODUCTS_ON_A_PAGE = 24
REVIEWS_ON_A_PAGE = 10
REVIEWS_PER_MINUTE = 30
MAX_SEARCH = 100  # characters
MAX_CATEGORY = 80  # what the column holds


@require_safe
@shop_page
def home(request: ShopRequest) -> HttpResponse:
    category = _asked(request, "category", MAX_CATEGORY)
    search = _asked(request, "q", MAX_SEARCH).strip()
    listing = queries.listed_products(request.shop, category=category or None, search=search or None)
    wanted = page_request(request.GET, default=PRODUCTS_ON_A_PAGE, maximum=PRODUCTS_ON_A_PAGE)
    context = {
        "category": category,
        "search": search,
        "products": listing.rows[wanted.window],
        "total": listing.total,
        "page_request": wanted,
    }
    return shop_render(request, "store/home.html", context)


def _asked(request: ShopRequest, name: str, most: int) -> str:
    """A word of the address's query, without what the database could not compare."""
    return request.GET.get(name, "").replace("\0", "")[:most]


@require_safe
@shop_page
def product(request: ShopRequest, product_slug: str) -> HttpResponse:
    found = queries.product_by_slug(request.shop, product_slug)
    return _product_page(request, found, ReviewForm(), QuantityForm())


@require_POST
@shop_page
def add_to_cart(request: ShopRequest, product_slug: str) -> HttpResponse:
    """Put some of a product into the cart; what can't be had is said beside the number that was typed."""
    found = queries.product_by_slug(request.shop, product_slug)
    form = QuantityForm(request.POST)
    if form.is_valid():
        quantity = form.cleaned_data["quantity"]
        try:
            request.cart.add(found, quantity)
        except Conflict as error:
            form.add_error("quantity", error.message)
        else:
            messages.success(request, f"{quantity} × {found.name} added.")
            return redirect("store:product", request.shop.slug, found.slug)
    return _product_page(request, found, ReviewForm(), form, status=422)


@require_POST
@shop_page
def review(request: ShopRequest, product_slug: str) -> HttpResponse:
    found = queries.product_by_slug(request.shop, product_slug)
    form = ReviewForm(request.POST)
    if not form.is_valid():
        return _product_page(request, found, form, QuantityForm(), status=422)
    try:
        limit_by_address(request, "store-review", per_minute=REVIEWS_PER_MINUTE)
    except TooManyRequests as error:
        form.add_error(None, f"That were many reviews. Send this one in {error.retry_after} seconds.")
        response = _product_page(request, found, form, QuantityForm(), status=error.status)
        response["Retry-After"] = str(error.retry_after)
        return response
    create_review(product=found, **form.cleaned_data)
    messages.success(request, "Your review is published. Thank you.")
    return redirect(f"{reverse('store:product', args=[request.shop.slug, found.slug])}#reviews")


def _product_page(
    request: ShopRequest, product: Product, review_form: ReviewForm, form: QuantityForm, status: int = 200
) -> HttpResponse:
    wanted = page_request(request.GET, default=REVIEWS_ON_A_PAGE, maximum=REVIEWS_ON_A_PAGE)
    context = {
        "product": product,
        "unavailable": shortage(product, 1),
        "form": review_form if review_form.is_bound else form,
        "quantity_form": form,
        "review_form": review_form,
        "rating": queries.review_stats(request.shop, product=product),
        "reviews": queries.reviews(request.shop, product_id=product.pk).rows[wanted.window],
        "page_request": wanted,
    }
    return shop_render(request, "store/product.html", context, status)


@require_safe
@shop_page
def site_page(request: ShopRequest, page_slug: str) -> HttpResponse:
    """The page's HTML was cleaned when it was saved (`services.pages`)."""
    return shop_render(
        request, "store/page.html", {"site_page": queries.page_by_slug(request.shop, page_slug)}
    )
