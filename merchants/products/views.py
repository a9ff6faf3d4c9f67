"""Products: the list with their stock, one product, taking it off the shelf."""

from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.db.models import UUIDField
from django.http import HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_POST

from common.db.compiled import AmongIds, Compiled, Param
from common.templatetags.links import address
from common.templatetags.stamped_forms import tokens_of_forms
from common.templatetags.ui import said_of
from common.web.forms.kept import typed
from common.web.forms.pages import UNPROCESSABLE, done, form_page, saved, sent_again
from common.web.methods import GET_OR_POST, require_safe
from merchants.access import MerchantRequest, merchant_page, own_row_of
from merchants.lists import ProductFilter, list_context
from merchants.products.forms import NewProductForm, ProductForm, StockForm
from merchants.store.queries import categories_in_use, products_found
from merchants.templatetags.merchant_store import product_pill
from stores import queries
from stores.enums import ProductStatus
from stores.models import Product
from stores.services.catalogue import products
from stores.templatetags.stores import money, thumbnail

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
    form = StockForm(data, stock=found.stock)

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
    context = list_context(request, "product", "package", form) | {"filter": form}
    if not form.is_valid():
        return render(request, "merchants/products/products.html", context, status=UNPROCESSABLE)
    chosen = form.cleaned_data
    listing = products_found(
        request.business, search=chosen["q"], category=chosen["category"], shelf=chosen["show"]
    )
    forms = {changing.pk: stock_form} if changing and stock_form else {}
    found, total = listing.page(context["page_request"].window)
    context |= {"rows": product_rows(request, found, forms), "total": total, "form": stock_form or form}
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
    return own_row_of(request, _OWN, product_id, "Product")


_OWN: Final = Compiled(
    lambda: Product.objects.filter(AmongIds("business", "businesses"), pk=Param("id", UUIDField())),
    prepared_as="merchants_product",
)


def product_rows(
    request: MerchantRequest, products: Iterable[Product], forms: Mapping[UUID, StockForm]
) -> list[dict[str, Any]]:
    """One for each product with the form of its stock, which keeps the list's filters in its address. `forms` are those that were
    sent, by the product's id.
    """
    query, tokens = f"?{request.GET.urlencode()}" if request.GET else "", tokens_of_forms(request)
    rows = []
    for product in products:
        action, form = address("merchants:product_stock", product.pk), forms.get(product.pk)
        stock = form["stock"].value() if form else product.stock
        rows.append(
            {
                "id": product.pk,
                "picture": thumbnail(product),
                "url": address("merchants:product", product.pk),
                "name": product.name,
                "category": _category(product.category),
                "status": product_pill(product),
                "price": money(product.price, request.business),
                "action": action + query,
                "tokens": tokens(action),
                "shown": form["shown"] if form else _shown(product.stock),
                "stock": "" if stock is None else stock,
                "invalid": _invalid() if form and form.errors else "",
                "error": _error(form) if form and form.errors else "",
            }
        )
    return rows


@lru_cache(maxsize=1024)
def _shown(stock: int | None) -> SafeString:
    """The digest of a stock. To make a form for each row would cost more than all else of it."""
    return SafeString(StockForm(stock=stock)["shown"])


def _category(name: str) -> SafeString | str:
    return format_html('<span class="about" dir="auto">{}</span>', name) if name else ""


def _invalid() -> SafeString:
    return format_html('id="{0}" aria-invalid="true" aria-describedby="{0}_error"', "id_stock")


def _error(form: StockForm) -> SafeString:
    """What is wrong with what was typed, and what is saved now if that has changed meanwhile."""
    field: Any = form["stock"]
    said = " ".join(said_of(str(error), field) for error in field.errors)
    theirs = getattr(field.field, "theirs", "")
    return format_html(
        '<span class="error" id="id_stock_error">{} {}</span>',
        said,
        f"Saved now: {theirs}." if theirs else "",
    )
