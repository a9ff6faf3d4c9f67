"""Counting visits."""

from typing import Final

from django.http import HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from common.web.limits.auth_limits import limit_by_address
from storefront.views.access import ShopRequest, shop_page
from stores.services.storefront import count_visit

COUNTED_PER_MINUTE: Final = 30  # for a network, so that no one fills a merchant's figures by a loop


@csrf_exempt  # it changes a count, and has nothing of a person's to protect
@require_POST
@shop_page
def visit(request: ShopRequest) -> HttpResponse:
    """A browser tab shows its first page of the store (`static/js/visit.js`). Programs that run no scripts don't count."""
    limit_by_address(request, "store-visit", per_minute=COUNTED_PER_MINUTE)
    count_visit(business=request.shop)
    return HttpResponse(status=204)
