"""The session token of `service:init`: proves who is looking at an app's admin page (contract, section 6).

A JWT (RFC 7519). Messages in the browser can be forged, this token can't. By default it is signed with HS256 and the installation's webhook
secret, which only the app's server has. For an app with `sessionTokenAlg: EdDSA` the platform's key signs it (contract, section 20).
"""

from datetime import datetime, timedelta
from typing import Any

import jwt
from django.conf import settings
from django.utils import timezone

from accounts.enums import StoreRole
from accounts.models import User
from installations.models import Installation
from installations.signing_keys import session_keys
from marketplace.enums import SessionTokenAlg

LIFETIME = timedelta(seconds=60)


def session_token(
    *, installation: Installation, user: User, staff_role: StoreRole | None, now: datetime | None = None
) -> str:
    """`aud` is the app's Client ID, `sub` the user's id. Valid for 60 seconds. Without a `staff_role` on a sandbox."""
    now = now or timezone.now()
    expires_at = now + LIFETIME
    claims: dict[str, Any] = {
        "aud": installation.app.client_id,
        "sub": str(user.pk),
        "businessId": str(installation.business_id),
        "installationId": str(installation.pk),
        "exp": int(expires_at.timestamp()),
    }
    if staff_role is not None:
        claims["staffRole"] = staff_role.value
    if installation.app.session_token_alg == SessionTokenAlg.HS256:
        return jwt.encode(claims, installation.webhook_secret, algorithm="HS256")
    key, *_ = session_keys()
    issued = {"iss": settings.BASE_URL, "iat": int(now.timestamp())}
    return jwt.encode(claims | issued, key.private, algorithm="EdDSA", headers={"kid": key.kid})
