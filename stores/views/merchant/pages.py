"""The storefront's pages besides its products. Their text and blocks are changed in the page editor."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.merchant_pages import MerchantRequest, merchant_page
from common.errors import Conflict, Invalid
from common.ids import parse_id
from common.pages import page_request
from stores.merchant_forms import tell
from stores.merchant_queries import page_by_id, pages_of
from stores.page_forms import SitePageForm
from stores.services.pages import create_page, delete_page
from stores.views.merchant import GET_OR_POST, ROWS, UNPROCESSABLE


@require_safe
@merchant_page
def page_list(request: MerchantRequest) -> HttpResponse:
    wanted = page_request(request.GET, default=ROWS, maximum=ROWS)
    listing = pages_of(request.business)
    context = {"pages": listing.rows[wanted.window], "total": listing.total, "page_request": wanted}
    return render(request, "merchant/shop/pages.html", context)


@require_http_methods(GET_OR_POST)
@merchant_page
def page_add(request: MerchantRequest) -> HttpResponse:
    form = SitePageForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = create_page(business=request.business, **form.cleaned_data)
        except (Invalid, Conflict) as error:
            tell(form, error, conflict="slug")
        else:
            messages.success(request, f"The page {made.title} is made. Edit it to add blocks.")
            return redirect("shop:pages")
    status = UNPROCESSABLE if form.errors else 200
    return render(request, "merchant/shop/page_add.html", {"form": form}, status=status)


@require_http_methods(GET_OR_POST)
@merchant_page
def delete(request: MerchantRequest, page_id: str) -> HttpResponse:
    page = page_by_id(request.business, parse_id(page_id))
    if request.method == "POST":
        delete_page(page=page)
        messages.success(request, f"The page {page.title} is deleted.")
        return redirect("shop:pages")
    return render(request, "merchant/shop/page_delete.html", {"site_page": page})
