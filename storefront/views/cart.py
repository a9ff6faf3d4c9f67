"""The cart."""

from django.contrib.messages import ERROR
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from common.ids import parse_id
from common.web.methods import require_safe
from storefront.views.access import ShopRequest, shop_page, shop_render
from stores.services.carts import MAX_QUANTITY, subtotal


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
def change(request: ShopRequest) -> HttpResponse:
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
def remove(request: ShopRequest) -> HttpResponse:
    if product_id := parse_id(request.POST.get("product", "")):
        request.cart.change({product_id: 0})
    return redirect("storefront:cart")
