"""Products: the list with their stock, one product, taking it off the shelf."""

from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.db.models import UUIDField
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Business
from common.db.compiled import AmongIds, Compiled, Param
from common.templatetags.links import address
from common.templatetags.stamped_forms import tokens_of_forms
from common.templatetags.ui import said_of
from common.web.forms.kept import typed
from common.web.forms.pages import UNPROCESSABLE, done, form_page, saved, sent_again
from common.web.methods import GET_OR_POST, require_safe
from merchants.access import MerchantRequest, merchant_page, own_row_of
from merchants.lists import ProductFilter, list_context
from merchants.products.forms import NewProductForm, ProductForm, RowForm
from merchants.store.queries import categories_in_use, products_found
from merchants.templatetags.merchant_store import product_pill
from stores import queries
from stores.enums import ProductStatus
from stores.models import Product
from stores.samples.store import add_sample_products
from stores.services.catalogue import products
from stores.templatetags.stores import small_picture

FIELDS = {wire: column for column, wire in products.WIRE_NAMES.items()}


@require_safe
@merchant_page
def product_list(request: MerchantRequest) -> HttpResponse:
    return _list(request)


@require_http_methods(GET_OR_POST)
@merchant_page
def change_row(request: MerchantRequest, product_id: str) -> HttpResponse:
    """Body: `price`, `stock`, empty where it is not counted, and `is_available`; what is not sent stays. The address carries the list's
    filters, and the answer is the list; for a script, JSON with what is saved or with what is wrong at each field.
    """
    found = _own(request, product_id)
    query = request.GET.urlencode()
    row = f"{resolve_url('merchants:products')}{'?' + query if query else ''}#product-{found.pk}"
    if (data := typed(request)) is None:
        return redirect(row)
    form = _row_form(request.business, found, data)
    by_script = request.headers.get("accept") == "application/json"

    def save() -> HttpResponse:
        now = products.edit_product(product=found, stock_seen=found.stock, **form.changes)
        return _row_saved(request.business, now) if by_script else done(request, _words_of(form, now), row)

    if response := saved(request, form, save, names=FIELDS):
        return response
    return _row_refused(form) if by_script else _list(request, row_form=form, changing=found)


def _row_form(business: Business, product: Product, data: Any = None) -> RowForm:
    return RowForm(
        data,
        currency=business.currency,
        price=product.price,
        stock=product.stock,
        is_available=product.is_available,
    )


def _words_of(form: RowForm, product: Product) -> str:
    if list(form.changes) == ["stock"]:
        is_now = "no longer tracked" if product.stock is None else product.stock
        return f"The stock of {product.name} is {is_now}."
    return f"{product.name} saved."


def _row_saved(business: Business, product: Product) -> JsonResponse:
    form = _row_form(business, product)
    values = {"price": form["price"].value(), "stock": "" if product.stock is None else str(product.stock)}
    shown = form["shown"].value()
    return JsonResponse({"values": values, "shown": shown, "status": product_pill(product)})


def _row_refused(form: RowForm) -> JsonResponse:
    """With the digests of what is saved now, so that another press replaces that."""
    errors = {name: _said(form, name) for name in form.fields if name in form.errors}
    errors = errors or {"stock": " ".join(map(str, form.non_field_errors()))}
    body = {"errors": errors, "shown": form["shown"].value()}
    return JsonResponse(body, status=getattr(form, "status", UNPROCESSABLE))


@require_POST
@merchant_page
def add_samples(request: MerchantRequest) -> HttpResponse:
    """For a store without a product. Pressed twice, it is done once."""
    number = add_sample_products(business=request.business)
    if number:
        messages.success(request, f"{number} sample products added. Change them, or delete them.")
    else:
        messages.info(request, "Your store has products already, so nothing was added.")
    return redirect("merchants:products")


def _list(
    request: MerchantRequest, *, row_form: RowForm | None = None, changing: Product | None = None
) -> HttpResponse:
    """The list, with what was typed in one of its rows, and what is wrong with it."""
    form = ProductFilter(request.GET, categories=categories_in_use(request.business))
    context = list_context(request, "product", "package", form) | {"filter": form}
    if not form.is_valid():
        return render(request, "merchants/products/products.html", context, status=UNPROCESSABLE)
    chosen = form.cleaned_data
    listing = products_found(
        request.business, search=chosen["q"], category=chosen["category"], shelf=chosen["show"]
    )
    forms = {changing.pk: row_form} if changing and row_form else {}
    found, total = listing.page(context["page_request"].window)
    context |= {"rows": product_rows(request, found, forms), "total": total, "form": row_form or form}
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
    request: MerchantRequest, products: Iterable[Product], forms: Mapping[UUID, RowForm]
) -> list[dict[str, Any]]:
    """One for each product with a form for what is changed in the list, which keeps the list's filters in its address. `forms` are those
    that were sent, by the product's id.
    """
    query, tokens = f"?{request.GET.urlencode()}" if request.GET else "", tokens_of_forms(request)
    business, rows = request.business, []
    for product in products:
        action, form = address("merchants:product_row", product.pk), forms.get(product.pk)
        rows.append(
            {
                "id": product.pk,
                "picture": small_picture(product),
                "url": address("merchants:product", product.pk),
                "name": product.name,
                "category": _category(product.category),
                "status": product_pill(product),
                "action": action + query,
                "tokens": tokens(action),
            }
            | (_sent(form, product) if form else _kept(business, product))
        )
    return rows


def _kept(business: Business, product: Product) -> dict[str, Any]:
    price, shown = _shown(business.currency, product.price, product.stock, product.is_available)
    return {
        "shown": shown,
        "price": price,
        "stock": "" if product.stock is None else product.stock,
        "checked": CHECKED if product.is_available else "",
        **dict.fromkeys(("price_error", "stock_error", "price_invalid", "stock_invalid"), ""),
    }


def _sent(form: RowForm, product: Product) -> dict[str, Any]:
    """With what was typed."""
    is_sold = form["is_available"].value() if "is_available" in form.fields else product.is_available
    row: dict[str, Any] = {"shown": form["shown"], "checked": CHECKED if is_sold else ""}
    for name in ("price", "stock"):
        is_wrong = name in form.errors
        row[name] = form[name].value() if name in form.fields else getattr(product, name)
        row[f"{name}_error"] = _error(form, name) if is_wrong else ""
        row[f"{name}_invalid"] = format_html(INVALID, name) if is_wrong else ""
    return row


CHECKED: Final = SafeString("checked")
INVALID: Final = 'id="id_{0}" aria-invalid="true" aria-describedby="id_{0}_error"'


@lru_cache(maxsize=1024)
def _shown(currency: str, price: int, stock: int | None, is_available: bool) -> tuple[str, SafeString]:
    """The price as text, and the digests. To make a form for each row would cost more than all else of it."""
    form = RowForm(currency=currency, price=price, stock=stock, is_available=is_available)
    return str(form["price"].value()), SafeString(form["shown"])


def _category(name: str) -> SafeString | str:
    return format_html('<span class="about" dir="auto">{}</span>', name) if name else ""


def _error(form: RowForm, name: str) -> SafeString:
    return format_html('<span class="error" id="id_{}_error">{}</span>', name, _said(form, name))


def _said(form: RowForm, name: str) -> str:
    """What is wrong with what was typed, and what is saved now if that has changed meanwhile."""
    field: Any = form[name]
    said = " ".join(said_of(str(error), field) for error in field.errors)
    theirs = getattr(field.field, "theirs", "")
    return f"{said} Saved now: {theirs}." if theirs else said
