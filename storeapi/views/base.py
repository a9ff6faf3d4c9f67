"""The base class of the endpoints for shop systems: their keys, the ids in paths, the rate limit."""

from typing import Any, ClassVar, Final, cast

from django.conf import settings
from django.utils import timezone
from django.utils.functional import cached_property
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from accounts.models import EXTERNAL_ID, Business, ConnectedStore, ShopKey, ShopSystem
from accounts.services.shops import key_of
from common.db.outages import is_outage
from common.errors import Invalid, Unauthenticated
from common.rest.bodies import PackedJson, PackedJsonParser
from common.rest.fields import Identifier
from common.rest.idempotency import owner_of
from common.rest.query import Query
from common.rest.rates import ApiRate
from common.rest.views import KeyedView, UnknownEndpoint
from common.web import requests
from stores.connected.bodies import SHOP_ID
from stores.connected.stores import store_of

STRANGERS_A_MINUTE: Final = 60  # of a network, without a good key
RATE: Final = ApiRate(
    "store-api", ("/store-api",), lambda: settings.STORE_API_RATE, lambda: STRANGERS_A_MINUTE
)
# Calls that a shop makes while a shopper or a merchant waits, so that a long push doesn't hold them up. `RATE` writes the headers of both.
WAITED_FOR: Final = ApiRate("store-api-waiting", (), lambda: settings.STORE_API_RATE)
MISSING: Final = "Send the key of the connection in the header: Authorization: Bearer <key>."


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer fbsk_…`; `request.auth` becomes the `ShopKey` with its system."""

    def authenticate(self, request: Request) -> tuple[None, ShopKey]:
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not (text := requests.token_of(header.strip())):
            raise Unauthenticated(MISSING, code="missing_token")
        return None, key_of(text, timezone.now())

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def checked_id(text: str, field: str = "id") -> str:
    """An id of the shop. Raises `Invalid` with the code `wrong_id`."""
    if SHOP_ID.fullmatch(text) is None:
        message = "Must be 1 to 100 characters of A-Z a-z 0-9 . _ ~ : - and neither . nor .."
        raise Invalid.field(field, message, code="wrong_id")
    return text


class StoreApiView(KeyedView):
    """An endpoint that needs a key of a shop system. Errors come in the order of `AppApiView`: 429, 401, then those of body and query."""

    rate: ClassVar[ApiRate] = RATE  # what a call with a good key counts for
    requests_a_minute = 6_000  # for the OpenAPI document; `STORE_API_RATE` says how many
    authentication_classes = [KeyAuthentication]
    permission_classes = []
    parser_classes = [PackedJsonParser]
    content_negotiation_class = PackedJson

    @property
    def system(self) -> ShopSystem:
        return cast(ShopKey, self.request.auth).system

    def perform_authentication(self, request: Request) -> None:
        """Authenticate, then count the request even if that failed: 429 comes before 401. An outage of ours is a 503, however often."""
        try:
            super().perform_authentication(request)
        except Exception as error:
            if not is_outage(error):
                RATE.check(request)
            raise
        self.rate.check(request, self.key_owner())

    def count_more(self, amount: int) -> None:
        """Count a call that is worth more than one by so much more. Raises `TooManyRequests`."""
        if amount > 0:
            self.rate.check(self.request, self.key_owner(), amount)

    def key_owner(self) -> str:
        return owner_of("shop", self.system.pk)

    def read(self, serializer: type[Serializer], **context: Any) -> dict[str, Any]:
        """The validated body. Raises for 415, 413 or 400 with all problems."""
        body = serializer(data=self.request.data, context=context)
        body.is_valid(raise_exception=True)
        found: dict[str, Any] = body.validated_data
        return found

    def query(self) -> Query:
        return Query(self.request.query_params)


class StoreView(StoreApiView):
    """An endpoint below `/store-api/stores/:store`. A method reads its body and query before it asks for `self.store`, so that 400 comes
    before 404.
    """

    path_fields = {"store": Identifier("The shop's own id of the store.", "main", max_length=EXTERNAL_ID)}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        checked_id(kwargs["store"], "store")

    @cached_property
    def store(self) -> ConnectedStore:
        """The connection's own store with its business. Raises `NotFound` for another's, and for one that is ending."""
        return store_of(self.system, self.kwargs["store"])

    @property
    def business(self) -> Business:
        return self.store.business


class UnknownShopPath(UnknownEndpoint, StoreApiView):
    """Any other path below `/store-api`."""
