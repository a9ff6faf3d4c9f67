"""What the account adds to every page."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts.models import User
from accounts.services.confirmation import has_to_be_confirmed, is_confirmed
from accounts.sign_in.provider import label


def people(request: HttpRequest) -> dict[str, Any]:
    """How people sign in here: `password_sign_in`, and `provider_label`, the name of the identity provider or ""."""
    return {"password_sign_in": settings.PASSWORD_SIGN_IN, "provider_label": label()}


def confirmation(request: HttpRequest) -> dict[str, Any]:
    """`address_unconfirmed`: whether to ask the person to confirm the address. Looked up when a page reads it, since an
    error page asks the database nothing."""

    def unconfirmed() -> bool:
        user = getattr(request, "user", None)  # the stores' host has no people
        if not (isinstance(user, User) and has_to_be_confirmed(user)):
            return False
        row = request.session.row  # type: ignore[attr-defined]  # `accounts.sign_in.sessions`
        return not (row.is_confirmed if row and row.user_id == user.pk else is_confirmed(user))

    return {"address_unconfirmed": SimpleLazyObject(unconfirmed)}
