"""The answer of both calls for placements: what a page of a shop shows of apps, by key and without."""

import hashlib
import re
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag

from accounts.models import Business
from accounts.validators import validate_locale
from common.rest.query import Query
from extensions.definitions import frame_url
from extensions.in_store.embeds_and_blocks import StoreEmbed
from extensions.in_store.placements import Placements, placements_on
from installations.models import Installation

MAX_HEIGHT: Final = 400  # pixels of a block (contract, section 6)
LOCALE: Final = re.compile(validate_locale.regex)
MAX_AGE: Final = 30  # seconds; a pause shows within 60


def placements_response(request: HttpRequest, business: Business, *, cached_by: str) -> HttpResponseBase:
    """By the query's `page` and `locale`. `cached_by` says whose caches may keep it. Raises `Invalid` naming each that is wrong."""
    query = Query(request.GET)
    slug, locale = query.text("page") or "", query.text("locale") or ""
    if locale and not LOCALE.search(locale):
        query.wrong("locale", str(validate_locale.message))
    query.check()
    found = placements_on(business, slug)
    # Shops may put it into their pages: no text of it ends a script element there.
    body = orjson.dumps(_wire(found, business, locale)).replace(b"<", rb"\u003c")
    etag = quote_etag(hashlib.sha256(body).hexdigest())
    response = get_conditional_response(request, etag=etag) or HttpResponse(
        body, content_type="application/json"
    )
    response["ETag"], response["Cache-Control"] = etag, f"{cached_by}, max-age={MAX_AGE}"
    return response


def _wire(found: Placements, business: Business, locale: str) -> dict[str, Any]:
    return {
        "scripts": [
            {
                "src": each.embed.url,
                "integrity": each.embed.integrity or None,
                "position": each.embed.position,
                "app": _app(each.installation),
                "settings": each.settings,
            }
            for each in found.scripts
        ],
        "widgets": [_widget(each, business, locale) for each in found.widgets],
        "blocks": [
            {
                "id": str(each.id),
                "src": frame_url(each.block.render_url, business, locale),
                "settings": each.settings,
                "maxHeight": MAX_HEIGHT,
                "app": _app(each.installation),
            }
            for each in found.blocks
        ],
        "hosts": {"scripts": sorted(found.hosts.scripts), "frames": sorted(found.hosts.frames)},
    }


def _widget(each: StoreEmbed, business: Business, locale: str) -> dict[str, Any]:
    return {
        "id": str(each.embed.id),
        "src": frame_url(each.embed.url, business, locale),
        "position": each.embed.position,
        "settings": each.settings,
        "app": _app(each.installation),
    }


def _app(installation: Installation) -> dict[str, str]:
    return {
        "id": str(installation.app_id),
        "slug": installation.app.slug,
        "name": installation.app_fields.name,
    }
