"""The storefront's pages besides its products. Their text and blocks are changed in the page editor."""

from functools import partial

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from common.files.pictures import BadPicture
from common.places import Busy
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved, sent_again
from common.web.methods import GET_OR_POST, require_safe
from merchants.access import MerchantRequest, merchant_page, own_row
from merchants.lists import list_context
from merchants.pages.forms import NewSitePageForm
from merchants.store.queries import pages_of
from stores.models import SitePage
from stores.services.catalogue.pictures import add_page_picture
from stores.services.pages import create_page, delete_page


@require_safe
@merchant_page
def page_list(request: MerchantRequest) -> HttpResponse:
    context = list_context(request, "page", "file-text")
    rows, total = pages_of(request.business).page(context["page_request"].window)
    return render(request, "merchants/pages/pages.html", context | {"rows": rows, "total": total})


@require_http_methods(GET_OR_POST)
@merchant_page
def page_add(request: MerchantRequest) -> HttpResponse:
    form = NewSitePageForm(typed(request))

    def save() -> HttpResponse:
        made = create_page(business=request.business, **form.new_page)
        return done(request, f"Page {made.title} added. Edit it to add blocks.", "merchants:pages")

    again = partial(sent_again, request, "merchants:pages")
    if response := saved(request, form, save, conflict="slug", again=again):
        return response
    return form_page(request, "merchants/pages/add.html", {"form": form})


@require_POST
@merchant_page
def add_picture(request: MerchantRequest) -> JsonResponse:
    """JSON for the text editor: `{"url"}` of an uploaded picture, or 400 or 503 and `{"message"}`."""
    upload = request.FILES.get("picture")
    try:
        if upload is None:
            raise BadPicture("Choose a picture.")
        added = add_page_picture(business=request.business, upload=upload)
    except BadPicture as problem:
        return JsonResponse({"message": str(problem)}, status=400)
    except Busy as busy:
        return JsonResponse({"message": busy.message}, status=busy.status, headers=busy.headers)
    return JsonResponse({"url": added.path})


@require_http_methods(GET_OR_POST)
@merchant_page
def delete(request: MerchantRequest, page_id: str) -> HttpResponse:
    page = own_row(request, SitePage.objects.all(), page_id, "Page")
    if request.method == "POST":
        delete_page(page=page)
        messages.success(request, f"Page {page.title} deleted.")
        return redirect("merchants:pages")
    return render(request, "merchants/pages/delete.html", {"site_page": page})
