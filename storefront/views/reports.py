"""What scripts of a store's pages report and ask for: visits, what apps cost (`static/js/app_cost.js`), tokens for apps' frames, and what
frames put into the cart (`static/js/block_host.js`).

Reports of visits and costs come without cookies and without a person's data.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

import orjson
from django.http import HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from activity import log
from activity.calls import RecordedCall
from common.errors import ErrorDetail, Invalid
from common.ids import new_id
from common.web.client_address import client_network
from common.web.limits import limit, limit_by_address
from common.web.methods import require_safe
from extensions.services.costs import MOST_APPS, Measured, record_visit
from extensions.session_tokens import BLOCKS_A_MINUTE, storefront_tokens
from installations.models import Installation
from installations.queries import running_app
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
    return JsonResponse(
        {"tokens": storefront_tokens(request.shop, request.GET.getlist("app"), request.cart.buyer)}
    )


# --- What apps put into the cart ----------------------------------------------------------------------

ATTRIBUTES_PER_MINUTE: Final = 120  # of one app in one browser
MOST_ATTRIBUTES_BODY: Final = 128 * 1024  # bytes
MESSAGE: Final = "SERVICE_CART_ATTRIBUTES"


@require_POST
@never_cache
@shop_page
def cart_attributes(request: ShopRequest) -> HttpResponse:
    """Body: `{"app": slug, "attributes": {key: text or null}}`, which are merged. Answers `{"attributes": {…}}`, all that the app has there.

    The app's log names those that can't be kept.
    """
    slug, changes = _sent_attributes(request)
    browser = f"{client_network(request)} {request.headers.get('User-Agent', '')}"
    limit(
        request,
        "store-attributes",
        key=f"{slug}:{request.cart.session or browser}",
        per_minute=ATTRIBUTES_PER_MINUTE,
    )
    installation = running_app(request.shop, slug)
    own, problems = request.cart.change_attributes(str(installation.app_id), changes)
    if problems:
        log_refused(installation, problems)
    return JsonResponse({"attributes": own})


def _sent_attributes(request: ShopRequest) -> tuple[str, dict[str, Any]]:
    body = request.read(MOST_ATTRIBUTES_BODY + 1)
    try:
        sent: Any = json.loads(body) if len(body) <= MOST_ATTRIBUTES_BODY else None
        slug, attributes = sent["app"], sent["attributes"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Invalid('Send {"app": slug, "attributes": {key: text or null}}.') from None
    if not isinstance(slug, str) or not isinstance(attributes, dict):
        raise Invalid('Send {"app": slug, "attributes": {key: text or null}}.')
    return slug, attributes


def log_refused(installation: Installation, problems: Mapping[str, str]) -> None:
    """Frames have no API, so their log is that of the app's calls."""
    message = f"{len(problems)} of the attributes can't be kept."
    details: list[ErrorDetail] = [
        {"field": f"attributes.{key}", "message": problem} for key, problem in problems.items()
    ]
    log.record(
        RecordedCall(
            at=timezone.now(),
            request_id=new_id(),
            installation=installation,
            method="MESSAGE",
            route=MESSAGE,
            path=MESSAGE,
            status=Invalid.status,
            error_code=Invalid.code,
            response_body=orjson.dumps({"message": message, "details": details}),
        )
    )
