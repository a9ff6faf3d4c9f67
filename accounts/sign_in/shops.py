"""Signing in with a shop: which connections the sign-in page offers for a page, and where their buttons lead (contract, section 17,
"People").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

from django.conf import settings
from django.db.models import Case, When
from django.http import HttpRequest
from django.shortcuts import resolve_url

from accounts.models import ConnectedStore, ShopSystem
from accounts.sign_in import ways
from common.ids import parse_id

LONGEST: Final = 1500  # characters of a way in the link to the shop
SHOWN: Final = 8  # connections, where the page doesn't say which one is meant
OF_CONSENT: Final = "/oauth/authorize?"


@dataclass(frozen=True, slots=True)
class ShopSignIn:
    """`url` is empty for a connection to whose people the shop has to give the link itself."""

    name: str
    url: str


def offers(request: HttpRequest, next_url: str) -> Sequence[ShopSignIn]:
    """For the page that somebody wants to open, "" for none. Those without a sign-in of their own come last.

    Nothing for pages that people of shops don't have. Raises `TooManyRequests` where a long way can't be kept.
    """
    way = ways.whole(request, next_url)
    way = "" if way == resolve_url(settings.LOGIN_REDIRECT_URL) else way
    if way and not ways.is_for_shops(way):
        return []
    systems = _systems(way)
    if any(each.sign_in_url for each in systems):
        way = ways.kept(request, way, LONGEST)
    return [ShopSignIn(each.name, _address(each.sign_in_url, way)) for each in systems]


def _systems(way: str) -> Sequence[ShopSystem]:
    """That of the store which the page names, or all."""
    wanted = parse_qs(urlsplit(way).query).get("business_id") if way.startswith(OF_CONSENT) else None
    if wanted is not None:
        stores = ConnectedStore.objects.standing().filter(pk=parse_id(wanted[0]))
        return list(ShopSystem.objects.active().filter(pk__in=stores.values("system")))
    return list(
        ShopSystem.objects.active().order_by(Case(When(sign_in_url="", then=1), default=0), "name")[:SHOWN]
    )


def _address(url: str, way: str) -> str:
    if not url or not way:
        return url
    return f"{url}{'&' if '?' in url else '?'}{urlencode({'next': way})}"
