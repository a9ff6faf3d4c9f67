"""What the account adds to every page."""

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts.models import User
from accounts.services.confirmation import must_confirm


def confirmation(request: HttpRequest) -> dict[str, Any]:
    """`address_unconfirmed`: whether to ask the person to confirm the address. Looked up when a page reads it, since an
    error page asks the database nothing."""

    def unconfirmed() -> bool:
        user = getattr(request, "user", None)  # the stores' host has no people
        return isinstance(user, User) and must_confirm(user)

    return {"address_unconfirmed": SimpleLazyObject(unconfirmed)}
