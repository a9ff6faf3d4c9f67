"""The base class of the endpoints for shop systems: their keys, the ids in paths, the rate limit."""

import re
from typing import Any, Final, cast

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.models import Business, ConnectedStore, ShopKey, ShopSystem
from accounts.services.shops import key_of
from common.errors import Invalid
from common.rest.idempotency import owner_of
from common.rest.views import KeyedView
from installations.authentication import bearer_token
from stores.connected.stores import store_of

SHOP_ID: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._~:-]{1,100}")


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer fbsk_…`; `request.auth` becomes the `ShopKey` with its system."""

    def authenticate(self, request: Request) -> tuple[None, ShopKey]:
        return None, key_of(bearer_token(request), timezone.now())

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def checked_id(text: str, field: str = "id") -> str:
    """An id of the shop. Raises `Invalid` with the code `wrong_id`."""
    if SHOP_ID.fullmatch(text) is None:
        message = "Must be 1 to 100 characters of A-Z a-z 0-9 . _ ~ : - and neither . nor .."
        raise Invalid.field(field, message, code="wrong_id")
    return text


class StoreApiView(KeyedView):
    """An endpoint that needs a key of a shop system."""

    authentication_classes = [KeyAuthentication]
    permission_classes = []

    @property
    def system(self) -> ShopSystem:
        return cast(ShopKey, self.request.auth).system

    def key_owner(self) -> str:
        return owner_of("shop", self.system.pk)


class StoreView(StoreApiView):
    """An endpoint below `/store-api/stores/:store`. `self.store` is the connection's own store with its business."""

    store: ConnectedStore

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.store = store_of(self.system, checked_id(kwargs["store"], "store"))

    @property
    def business(self) -> Business:
        return self.store.business
