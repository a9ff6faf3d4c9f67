"""Products, a product with its reviews, the store's site pages, and the cart."""

from django.contrib.messages import ERROR, SUCCESS
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from common import lengths
from common.errors import Conflict, TooManyRequests
from common.ids import parse_id
from common.web.limits import limit_by_address
from common.web.methods import require_safe
from common.web.pagination import page_request
from storefront.forms import QuantityForm, ReviewForm
from storefront.templatetags.storefront import is_gone
from storefront.views.access import ADDED, ShopRequest, shop_page, shop_render
from stores import queries
from stores.models import Product
from stores.services.carts import MAX_QUANTITY, shortage, subtotal
from stores.services.reviews import create_review

PRODUCTS_ON_A_PAGE = 24
REVIEWS_ON_A_PAGE = 10
REVIEWS_PER_MINUTE = 30
MAX_SEARCH = 100  # characters


SORTS = {
    "": gettext_lazy("Newest"),
    "price": gettext_lazy("Price, low to high"),
    "-price": gettext_lazy("Price, high to low"),
    "name": gettext_lazy("Name"),
    "-rating": gettext_lazy("Best rated"),
}
RELATED = 4  # products


@require_safe
@shop_page
def home(request: ShopRequest) -> HttpResponse:
    category = _asked(request, "category", lengths.NAME)
    search = _asked(request, "q", MAX_SEARCH).strip()
    listing = queries.listed_products(request.shop, category=category or None, search=search or None)
    wanted = page_request(request.GET, default=PRODUCTS_ON_A_PAGE, maximum=PRODUCTS_ON_A_PAGE)
    sort = request.GET.get("sort", "")
    sort = sort if sort in SORTS else ""
    products = list(queries.sorted_products(listing, sort)[wanted.window])
    if not sort:  # unavailable products come last on the page
        products.sort(key=is_gone)
    context = {
        "category": category,
        "search": search,
        "sort": sort,
        "sorts": SORTS.items(),
        "is_front": not category and not search and not sort and wanted.page == 1,
        "products": products,
        "total": listing.total,
        "page_request": wanted,
    }
    return shop_render(request, "storefront/home.html", context)


def _asked(request: ShopRequest, name: str, most: int) -> str:
    """A search word of the query string, without characters that the database can't compare."""
    return request.GET.get(name, "").replace("\0", "")[:most]


@require_safe
@shop_page
def product(request: ShopRequest, product_slug: str) -> HttpResponse:
    found = queries.product_by_slug(request.shop, product_slug)
    return _product_page(request, found, ReviewForm(), QuantityForm())


@require_POST
@shop_page
def add_to_cart(request: ShopRequest, product_slug: str) -> HttpResponse:
    """Add a product to the cart, and with `buy` go on to the checkout. If it can't be added, the page shows why beside the quantity."""
    found = queries.product_by_slug(request.shop, product_slug)
    form = QuantityForm(request.POST)
    if form.is_valid():
        quantity = form.cleaned_data["quantity"]
        try:
            request.cart.add(found, quantity)
        except Conflict as error:
            form.add_error("quantity", error.message)
        else:
            if "buy" in request.POST:
                return redirect("storefront:checkout")
            request.cart.add_notice(
                ADDED, _("%(quantity)d × %(product)s added.") % {"quantity": quantity, "product": found.name}
            )
            return redirect("storefront:product", found.slug)
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
        wait = ngettext(
            "Too many reviews. Try again in %(seconds)d second.",
            "Too many reviews. Try again in %(seconds)d seconds.",
            error.retry_after,
        )
        form.add_error(None, wait % {"seconds": error.retry_after})
        response = _product_page(request, found, form, QuantityForm(), status=error.status)
        response["Retry-After"] = str(error.retry_after)
        return response
    create_review(product=found, cart_digest=request.cart.digest, **form.cleaned_data)
    request.cart.add_notice(SUCCESS, _("Your review is published. Thank you."))
    return redirect(f"{reverse('storefront:product', args=[found.slug])}#reviews")


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
        "pictures": queries.pictures_of(product),
        "related": queries.related_products(product)[:RELATED],
    }
    return shop_render(request, "storefront/product.html", context, status)


@require_safe
@shop_page
def site_page(request: ShopRequest, page_slug: str) -> HttpResponse:
    """The page's HTML was cleaned when it was saved (`services.pages`)."""
    return shop_render(
        request, "storefront/page.html", {"site_page": queries.page_by_slug(request.shop, page_slug)}
    )


# --- The cart ----------------------------------------------------------------------------------------


@require_safe
@never_cache  # else Back shows what is ordered already
@shop_page
def cart(request: ShopRequest) -> HttpResponse:
    lines = request.cart.lines()
    context = {
        "lines": lines,
        "subtotal": subtotal(lines),
        "has_problems": any(line.problem for line in lines),
        "max_quantity": MAX_QUANTITY,
    }
    return shop_render(request, "storefront/cart.html", context)


@require_POST
@shop_page
def change_cart(request: ShopRequest) -> HttpResponse:
    """Change all quantities at once. Invalid ones are kept as they were and reported."""
    typed, wrong = {}, []
    for line in request.cart.lines():
        text = request.POST.get(f"quantity-{line.product_id}", str(line.quantity)).strip()
        if text.isascii() and text.isdigit() and len(text) <= len(str(MAX_QUANTITY)):
            typed[line.product_id] = int(text)
        else:
            wrong.append(line.name)
    request.cart.change(typed)
    if wrong:
        words = _("Enter a whole number from 0 to %(most)d for %(products)s.")
        request.cart.add_notice(ERROR, words % {"most": MAX_QUANTITY, "products": ", ".join(wrong)})
    return redirect("storefront:cart")


@require_POST
@shop_page
def remove_from_cart(request: ShopRequest) -> HttpResponse:
    if product_id := parse_id(request.POST.get("product", "")):
        request.cart.change({product_id: 0})
    return redirect("storefront:cart")
