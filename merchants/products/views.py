"""Products: the list with their stock, one product, taking it off the shelf."""

from functools import partial

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods, require_POST

from common.web.forms.kept import typed
from common.web.forms.pages import UNPROCESSABLE, done, form_page, saved, sent_again
from common.web.methods import GET_OR_POST, require_safe
from common.web.pagination import page_request
from merchants.access import MerchantRequest, merchant_page, own_row
from merchants.constants import ROWS
from merchants.filter_forms import ProductFilter
from merchants.products.forms import NewProductForm, ProductForm, StockForm
from merchants.store.queries import categories_in_use, products_found
from stores import queries
from stores.enums import ProductStatus
from stores.models import Product
from stores.services.catalogue import products

FIELDS = {wire: column for column, wire in products.WIRE_NAMES.items()}


@require_safe
@merchant_page
def product_list(request: MerchantRequest) -> HttpResponse:
    return _list(request)


@require_http_methods(GET_OR_POST)
@merchant_page
def change_stock(request: MerchantRequest, product_id: str) -> HttpResponse:
    """Body: `stock`, empty where it is not counted. The address carries the list's filters, and the answer is the list."""
    found = _own(request, product_id)
    query = request.GET.urlencode()
    row = f"{resolve_url('merchants:products')}{'?' + query if query else ''}#product-{found.pk}"
    if (data := typed(request)) is None:
        return redirect(row)
    form = StockForm(data, product=found)

    def save() -> HttpResponse:
        products.edit_product(product=found, stock_seen=found.stock, **form.changes)
        stock = form.cleaned_data["stock"]
        is_now = "no longer tracked" if stock is None else stock
        return done(request, f"The stock of {found.name} is {is_now}.", row)

    return saved(request, form, save) or _list(request, stock_form=form, changing=found)


def _list(
    request: MerchantRequest, *, stock_form: StockForm | None = None, changing: Product | None = None
) -> HttpResponse:
    """The list, with what was typed as the stock in one of its rows, and what is wrong with it."""
    form = ProductFilter(request.GET, categories=categories_in_use(request.business))
    wanted = page_request(request.GET, default=ROWS, maximum=ROWS)
    context: dict[str, object] = {
        "form": stock_form or form,
        "filter": form,
        "page_request": wanted,
        "filtered": any(map(request.GET.get, form.fields)),
    }
    if not form.is_valid():
        context["form"] = form
        return render(request, "merchants/products/products.html", context, status=UNPROCESSABLE)
    chosen = form.cleaned_data
    listing = products_found(
        request.business, search=chosen["q"], category=chosen["category"], shelf=chosen["show"]
    )
    rows = [
        (each, stock_form if stock_form and each == changing else StockForm(product=each))
        for each in listing.rows[wanted.window]
    ]
    context |= {"rows": rows, "total": listing.total}
    return form_page(request, "merchants/products/products.html", context)


@require_http_methods(GET_OR_POST)
@merchant_page
def product_add(request: MerchantRequest) -> HttpResponse:
    form = NewProductForm(typed(request), request.FILES or None, business=request.business)

    def save() -> HttpResponse:
        made = products.create_product(business=request.business, **form.new_product)
        return done(request, f"{made.name} added to your store.", "merchants:product", made.pk)

    again = partial(sent_again, request, "merchants:products")
    if response := saved(request, form, save, names=FIELDS, conflict="slug", again=again):
        return response
    context = {"form": form, "categories": categories_in_use(request.business)}
    return form_page(request, "merchants/products/add.html", context)


@require_http_methods(GET_OR_POST)
@merchant_page
def product(request: MerchantRequest, product_id: str) -> HttpResponse:
    """A product with everything that can be changed about it."""
    found = _own(request, product_id)
    form = ProductForm(
        typed(request),
        request.FILES or None,
        business=request.business,
        product=found,
        pictures=queries.pictures_of(found),
    )

    def save() -> HttpResponse:
        products.edit_product(
            product=found, stock_seen=found.stock, pictures=form.picture_changes, **form.changes
        )
        return done(request, "Saved.", "merchants:product", found.pk)

    if response := saved(request, form, save, names=FIELDS, conflict="slug"):
        return response
    context = {
        "form": form,
        "product": found,
        "is_archived": found.status == ProductStatus.ARCHIVED,
        "rating": queries.review_stats(request.business, product=found),
        "categories": categories_in_use(request.business),
    }
    return form_page(request, "merchants/products/product.html", context)


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
    return own_row(request, Product.objects.all(), product_id, "Product")
