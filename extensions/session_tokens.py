"""Session tokens for the frames of apps (contract, sections 6 and 20).

The token of `service:init` proves who is looking at an admin page. That of `SERVICE_BLOCK_INIT` proves which store a block or
widget is in, and names no person.

A JWT (RFC 7519). Messages in the browser can be forged, this token can't. By default it is signed with HS256 and the installation's webhook
secret, which only the app's server has. For an app with `sessionTokenAlg: EdDSA` the platform's key signs it.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final

import jwt
from django.conf import settings
from django.utils import timezone

from accounts.enums import StoreRole
from accounts.models import Business, User
from installations.models import Installation
from installations.signing_keys import session_keys
from marketplace.enums import SessionTokenAlg
from stores.buyers import shoppers
from stores.buyers.shoppers import NOBODY, Buyer, SeenShopper

LIFETIME: Final = timedelta(seconds=60)
READS_ORDERS: Final = "read_orders"
STOREFRONT: Final = "/storefront"
BLOCKS_A_MINUTE: Final = 60  # requests for the tokens of a page's blocks, for each session


def session_token(
    *, installation: Installation, user: User, staff_role: StoreRole | None, now: datetime | None = None
) -> str:
    """`aud` is the app's Client ID, `sub` the user's id. Valid for 60 seconds. Without a `staff_role` on a sandbox."""
    claims = {"aud": installation.app.client_id, "sub": str(user.pk)}
    if staff_role is not None:
        claims["staffRole"] = staff_role.value
    return _signed(installation, claims, now or timezone.now())


def storefront_tokens(
    business: Business, slugs: Collection[str], buyer: Buyer = NOBODY, now: datetime | None = None
) -> dict[str, str]:
    """For blocks and widgets of these apps, by the app's slug. Apps that don't run in the store have none.

    `aud` is the Client ID with `/storefront`, so an app that checks it takes neither kind of token for the other. `shopper` says who is
    looking, only where this browser has proven it, to apps that may read orders.
    """
    now = now or timezone.now()
    running = Installation.objects.running().with_app().filter(business=business, app__slug__in=slugs)
    who = shoppers.seen(business=business, buyer=buyer) if buyer.proven else None
    return {
        each.app.slug: _signed(each, {"aud": each.app.client_id + STOREFRONT} | _proven(each, who), now)
        for each in running
    }


def _proven(installation: Installation, who: SeenShopper | None) -> dict[str, Any]:
    if who is None or not who.is_proven or READS_ORDERS not in installation.effective_scopes:
        return {}
    return {"shopper": who.payload(installation.pk)}


def _signed(installation: Installation, claims: dict[str, Any], now: datetime) -> str:
    claims |= {
        "businessId": str(installation.business_id),
        "installationId": str(installation.pk),
        "exp": int((now + LIFETIME).timestamp()),
    }
    if installation.app.session_token_alg == SessionTokenAlg.HS256:
        return jwt.encode(claims, installation.webhook_secret, algorithm="HS256")
    key, *_ = session_keys()
    issued = {"iss": settings.BASE_URL, "iat": int(now.timestamp())}
    return jwt.encode(claims | issued, key.private, algorithm="EdDSA", headers={"kid": key.kid})
