"""What apps show on the pages of shops: by key, for the pages themselves, and the script that mounts it there."""

import hashlib
from typing import Final

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from common.errors import NotAllowed
from common.rest.fields import Text
from common.rest.query import MAX_TEXT
from common.rest.schema import NO_NUL, problem
from common.rest.views import JsonView
from common.web.limits import limit_by_address
from common.web.methods import require_safe
from common.web.requests import refuse_nul
from common.web.sheets import script_text
from extensions.in_store.placements import PUBLIC_A_MINUTE
from storeapi.middleware import allow_origin
from storeapi.placements import LOCALE, placements_response
from storeapi.serializers import PlacementsSerializer
from storeapi.views.base import WAITED_FOR, StoreView
from storeapi.views.stores import IF_NONE_MATCH, TAG
from stores.connected.stores import origins_of, shown_store

SCRIPT: Final = "shop"
JAVASCRIPT: Final = "text/javascript; charset=utf-8"
SCRIPT_MAX_AGE: Final = 300  # seconds
PARAMETERS: Final = [
    OpenApiParameter(
        "page",
        {"type": "string", "maxLength": MAX_TEXT, "pattern": NO_NUL, "examples": ["about"]},
        description="The `slug` of the page. Without it there are no blocks.",
    ),
    OpenApiParameter(
        "locale",
        {"type": "string", "maxLength": 16, "pattern": f"^{LOCALE.pattern[2:-2]}$", "examples": ["en"]},
        description="The language of the page, for the frames' addresses: the store's by default.",
    ),
    IF_NONE_MATCH,
]
FOUND: Final = OpenApiResponse(PlacementsSerializer, "With an `ETag`.")
UNCHANGED: Final = OpenApiResponse(None, "It is as the `If-None-Match` says.")


class StorePlacements(StoreView):
    tag = TAG
    rate = WAITED_FOR

    @extend_schema("getPlacements", parameters=PARAMETERS, responses={200: FOUND, 304: UNCHANGED})
    def get(self, request: Request, store: str) -> HttpResponseBase:
        """Get what apps show on a page.

        Of apps that run, with what the merchant has switched on. Your page shows the scripts and frames with the attributes of the guide.
        """
        return placements_response(request, self.business, cached_by="private")


class PublicPlacements(JsonView):
    tag = TAG
    is_limited = True
    path_fields = {"business_id": Text("The store's Business ID.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a01")}
    authentication_classes = []
    permission_classes = []

    @extend_schema(
        "getPublicPlacements",
        auth=[],
        parameters=PARAMETERS,
        responses={
            200: FOUND,
            304: UNCHANGED,
            403: problem("The `Origin` is none of the store's."),
            429: problem(f"More than {PUBLIC_A_MINUTE} a minute from one address."),
        },
    )
    def get(self, request: Request, business_id: str) -> HttpResponseBase:
        """Get what apps show on a page, from the page.

        Without a key. Pages of the store's own origins may read it: that of `storefrontUrl`, and `storefrontOrigins`. A store without
        `storefrontUrl` is a 404.
        """
        limit_by_address(request, "placements", per_minute=PUBLIC_A_MINUTE)
        store = shown_store(business_id)
        if origin := request.headers.get("Origin", ""):
            if origin not in origins_of(store):
                raise NotAllowed("The store has no pages at this origin.", code="wrong_origin")
            allow_origin(request, origin)
        return placements_response(request, store.business, cached_by="public")


@require_safe
def script(request: HttpRequest) -> HttpResponseBase:
    """`store.js`, which is the same for all stores."""
    refuse_nul(request.GET)
    text = script_text(SCRIPT)
    etag = quote_etag(hashlib.sha256(text.encode()).hexdigest())
    response = get_conditional_response(request, etag=etag) or HttpResponse(text, content_type=JAVASCRIPT)
    response["ETag"], response["Cache-Control"] = etag, f"public, max-age={SCRIPT_MAX_AGE}"
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response
