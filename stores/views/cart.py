"""The cart."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from stores.cart import MAX_QUANTITY, subtotal
from stores.views.access import ShopRequest, shop_page, shop_render


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
    return shop_render(request, "store/cart.html", context)


@require_POST
@shop_page
def change(request: ShopRequest) -> HttpResponse:
    """Every line's number at once; what is no number stays as it was, and is said."""
    wrong = []
    for line in request.cart.lines():
        text = request.POST.get(f"quantity-{line.product_id}", str(line.quantity)).strip()
        if text.isascii() and text.isdigit() and len(text) <= len(str(MAX_QUANTITY)):
            request.cart.change(str(line.product_id), int(text))
        else:
            wrong.append(line.name)
    if wrong:
        messages.error(request, f"Enter a whole number from 0 to {MAX_QUANTITY} for {', '.join(wrong)}.")
    return redirect("store:cart", request.shop.slug)


@require_POST
@shop_page
def remove(request: ShopRequest) -> HttpResponse:
    request.cart.change(request.POST.get("product", ""), 0)
    return redirect("store:cart", request.shop.slug)
