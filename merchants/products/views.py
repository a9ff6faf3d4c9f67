"""Products: the list with their stock, one product, taking it off the shelf."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods, require_POST

from common.errors import Conflict, Invalid
from common.web.forms import add_service_errors
from common.web.methods import require_safe
from common.web.pagination import page_request
from merchants.access import MerchantRequest, merchant_page
from merchants.constants import GET_OR_POST, ROWS, UNPROCESSABLE
from merchants.filter_forms import ProductFilter, list_context
from merchants.products.forms import ProductForm, StockForm
from merchants.store.queries import categories_in_use, products_found
from stores import queries
from stores.enums import ProductStatus
from stores.models import Product
from stores.services.catalogue import products

COLUMNS = {wire: column for column, wire in products.WIRE_NAMES.items()}


@require_safe
@merchant_page
def product_list(request: MerchantRequest) -> HttpResponse:
    return _list(request)


@require_POST
@merchant_page
def change_stock(request: MerchantRequest, product_id: str) -> HttpResponse:
    """Body: `stock`, empty where it is not counted, and `seen`, the stock that the list had shown.

    The address carries the list's filters, and the answer is the list."""
    found = _own(request, product_id)
    form = StockForm(request.POST)
    if form.is_valid():
        try:
            products.edit_product(product=found, stock_seen=form.stock_seen, stock=form.cleaned_data["stock"])
        except Invalid as error:
            add_service_errors(form, error)
    if form.errors:
        return _list(request, stock_form=form, changing=found)
    stock = form.cleaned_data["stock"]
    messages.success(
        request,
        f"The stock of {found.name} is no longer tracked."
        if stock is None
        else f"The stock of {found.name} is {stock}.",
    )
    query = request.GET.urlencode()
    return redirect(f"{resolve_url('merchants:products')}{'?' + query if query else ''}#product-{found.pk}")


def _list(
    request: MerchantRequest, *, stock_form: StockForm | None = None, changing: Product | None = None
) -> HttpResponse:
    """The list, with what was wrong with the stock typed in one of its rows."""
    form = ProductFilter(request.GET, categories=categories_in_use(request.business))
    wanted = page_request(request.GET, default=ROWS, maximum=ROWS)
    context = list_context(request, form, wanted, thing="product", icon="package")
    if not form.is_valid():
        return render(request, "merchants/products/products.html", context, status=UNPROCESSABLE)
    chosen = form.cleaned_data
    listing = products_found(
        request.business, search=chosen["q"], category=chosen["category"], shelf=chosen["show"]
    )
    context |= {"rows": listing.rows[wanted.window], "total": listing.total}
    context |= {"form": stock_form or form, "stock_form": stock_form, "changing": changing}
    status = UNPROCESSABLE if stock_form else 200
    return render(request, "merchants/products/products.html", context, status=status)


@require_http_methods(GET_OR_POST)
@merchant_page
def product_add(request: MerchantRequest) -> HttpResponse:
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = ProductForm(*sent, business=request.business)
    if form.is_valid():
        try:
            made = products.create_product(business=request.business, **form.new_product)
        except (Invalid, Conflict) as error:
            add_service_errors(form, error, names=COLUMNS, conflict="slug")
        else:
            messages.success(request, f"{made.name} added to your store.")
            return redirect("merchants:product", made.pk)
    context = {"form": form, "categories": categories_in_use(request.business)}
    status = UNPROCESSABLE if form.errors else 200
    return render(request, "merchants/products/add.html", context, status=status)


@require_http_methods(GET_OR_POST)
@merchant_page
def product(request: MerchantRequest, product_id: str) -> HttpResponse:
    """A product with everything that can be changed about it."""
    found = _own(request, product_id)
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = ProductForm(*sent, business=request.business, product=found, pictures=queries.pictures_of(found))
    if form.is_valid():
        try:
            products.edit_product(
                product=found,
                stock_seen=form.stock_seen,
                pictures=form.picture_changes,
                **form.changes,
            )
        except (Invalid, Conflict) as error:
            add_service_errors(form, error, names=COLUMNS, conflict="slug")
        else:
            messages.success(request, "Saved.")
            return redirect("merchants:product", found.pk)
    context = {
        "form": form,
        "product": found,
        "is_archived": found.status == ProductStatus.ARCHIVED,
        "rating": queries.review_stats(request.business, product=found),
        "categories": categories_in_use(request.business),
    }
    status = UNPROCESSABLE if form.errors else 200
    return render(request, "merchants/products/product.html", context, status=status)


@require_POST
@merchant_page
def archive(request: MerchantRequest, product_id: str) -> HttpResponse:
    found = products.archive_product(product=_own(request, product_id))
    messages.success(request, f"{found.name} archived. Shoppers can no longer buy it.")
    return redirect("merchants:product", found.pk)


@require_POST
@merchant_page
def restore(request: MerchantRequest, product_id: str) -> HttpResponse:
    found = products.restore_product(product=_own(request, product_id))
    messages.success(request, f"{found.name} restored.")
    return redirect("merchants:product", found.pk)


@require_http_methods(GET_OR_POST)
@merchant_page
def delete(request: MerchantRequest, product_id: str) -> HttpResponse:
    found = _own(request, product_id)
    if request.method == "POST":
        products.delete_product(product=found)
        messages.success(request, f"{found.name} deleted.")
        return redirect("merchants:products")
    context = {
        "product": found,
        "rating": queries.review_stats(request.business, product=found),
        "is_archived": found.status == ProductStatus.ARCHIVED,
    }
    return render(request, "merchants/products/delete.html", context)


def _own(request: MerchantRequest, product_id: str) -> Product:
    found = queries.product_by_id(request.business, product_id)
    found.business = request.business
    return found
