"""The session token of `service:init`: proves who is looking at an app's admin page (contract, section 6).

A JWT (RFC 7519) signed with HS256 and the installation's webhook secret, which only the app's server has. Messages
in the browser can be forged, this token can't.
"""

from datetime import datetime, timedelta

import jwt
from django.utils import timezone

from accounts.enums import StoreRole
from accounts.models import User
from installations.models import Installation

LIFETIME = timedelta(seconds=60)


def session_token(
    *, installation: Installation, user: User, staff_role: StoreRole | None, now: datetime | None = None
) -> str:
    """`aud` is the app's Client ID, `sub` the user's id. Valid for 60 seconds. Without a `staff_role` on a sandbox."""
    expires_at = (now or timezone.now()) + LIFETIME
    claims = {
        "aud": installation.app.client_id,
        "sub": str(user.pk),
        "businessId": str(installation.business_id),
        "installationId": str(installation.pk),
        "exp": int(expires_at.timestamp()),
    }
    if staff_role is not None:
        claims["staffRole"] = staff_role.value
    return jwt.encode(claims, installation.webhook_secret, algorithm="HS256")
