"""What scripts of a store's pages report and ask for: visits, what apps cost (`static/js/app_cost.js`), and tokens for apps' frames.

Reports come without cookies and without a person's data.
"""

import json
from typing import Any, Final

from django.http import HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from common.errors import Invalid
from common.web.client_address import client_network
from common.web.limits import limit, limit_by_address
from common.web.methods import require_safe
from extensions.services.costs import MOST_APPS, Measured, record_visit
from extensions.session_tokens import BLOCKS_A_MINUTE, storefront_tokens
from storefront.views.access import ShopRequest, shop_page
from stores.services.checkout import count_visit

PER_MINUTE: Final = 10  # page views of a network; a shopper sends one in four
MOST_BODY: Final = 4096  # bytes
MOST_NUMBER: Final = 10**9


@require_POST
@shop_page
def app_costs(request: ShopRequest) -> HttpResponse:
    """Body: `{"apps": [[slug, milliseconds, bytes or null], …]}`. Apps that the store doesn't run are left out."""
    limit_by_address(request, "store-app-costs", per_minute=PER_MINUTE)
    record_visit(business=request.shop, measured=_measured(request))
    return HttpResponse(status=204)


def _measured(request: ShopRequest) -> list[Measured]:
    body = request.read(MOST_BODY + 1)
    try:
        rows = json.loads(body)["apps"] if len(body) <= MOST_BODY else None
        if not isinstance(rows, list) or len(rows) > MOST_APPS:
            raise ValueError("not a list of apps")
        return [_row(*each) for each in rows]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Invalid('Send {"apps": [[slug, milliseconds, bytes or null]]}, at most 20 apps.') from None


def _row(slug: Any, milliseconds: Any, size: Any) -> Measured:
    if not isinstance(slug, str) or not _is_number(milliseconds) or not (size is None or _is_number(size)):
        raise ValueError("not an app's numbers")
    return Measured(slug, round(milliseconds), None if size is None else round(size))


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= MOST_NUMBER


COUNTED_PER_MINUTE: Final = 30  # for a network, so that no one fills a merchant's figures by a loop


@csrf_exempt  # it changes a count, and has nothing of a person's to protect
@require_POST
@shop_page
def visit(request: ShopRequest) -> HttpResponse:
    """A browser tab shows its first page of the store (`static/js/visit.js`). Programs that run no scripts don't count."""
    limit_by_address(request, "store-visit", per_minute=COUNTED_PER_MINUTE)
    count_visit(business=request.shop)
    return HttpResponse(status=204)


@require_safe
@never_cache
@shop_page
def session_tokens(request: ShopRequest) -> HttpResponse:
    """`{"tokens": {slug: token}}` for the page's blocks and widgets (`static/js/block_host.js`). Query: `app`, once for each app.

    Shoppers without a cart have no session yet: they count by their network and browser.
    """
    browser = f"{client_network(request)} {request.headers.get('User-Agent', '')}"
    limit(
        request,
        "store-session-tokens",
        key=request.cart.session or browser,
        per_minute=BLOCKS_A_MINUTE,
    )
    return JsonResponse({"tokens": storefront_tokens(request.shop, request.GET.getlist("app"))})
