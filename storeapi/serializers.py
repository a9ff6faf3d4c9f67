"""Bodies and responses of the endpoints for shop systems."""

from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from rest_framework import serializers
from rest_framework.fields import empty

from accounts.enums import StoreRole
from accounts.models import PERSON_ID
from accounts.services.businesses import SLUG
from accounts.sign_in import ways
from common import lengths
from common.http.url_policy import MAX_URL_LENGTH, InvalidUrl, check_page_url, origin_of
from common.money import CURRENCIES
from common.rest.fields import (
    ApiSerializer,
    Boolean,
    Choice,
    Identifier,
    Integer,
    Moment,
    Object,
    StringList,
    Text,
)
from webhooks.enums import ErasureState

MOST_ORIGINS: Final = 5


class OrDefault(Text):
    """Text that may be left out or null, which both say that it has its default."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, required=False, allow_null=True, allow_blank=True, **options)

    def run_validation(self, data: Any = empty) -> Any:
        return super().run_validation("" if data is None else data)


class PageUrl(OrDefault):
    """The address of a page of the shop."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args, max_length=MAX_URL_LENGTH, schema={"format": "uri"})

    def to_internal_value(self, data: Any) -> str:
        return checked_url(super().to_internal_value(data))


class ShopOrigin(Identifier):
    """Scheme, host and port, in the spelling that browsers send."""

    def to_internal_value(self, data: Any) -> str:
        url = checked_url(super().to_internal_value(data))
        parts = urlsplit(url)
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise serializers.ValidationError("Must be an origin, such as https://shop.example.")
        return origin_of(url)


class Origins(StringList):
    def run_validation(self, data: Any = empty) -> Any:
        return super().run_validation([] if data is None else data)


def checked_url(url: str) -> str:
    try:
        check_page_url(url, debug=settings.DEBUG)
    except InvalidUrl as error:
        raise serializers.ValidationError(str(error)) from None
    return url


class StoreBody(ApiSerializer):
    """What is left out, or null, has its default; but a slug stays."""

    name = Text("The store's name.", "Northwind Main", max_length=120)
    currency = Text(
        "ISO 4217. It can't change once the store has a product or an order.",
        "USD",
        schema={"enum": sorted(CURRENCIES)},
    )
    slug = OrDefault(
        "A name for URLs. Without one it is made of the name.",
        "northwind-main",
        max_length=63,
        schema={"pattern": f"^({SLUG.pattern})?$"},
    )
    locale = OrDefault("The language of the store: `en` by default.", "en", max_length=16)
    timezone = OrDefault("An IANA time zone: `UTC` by default.", "UTC", max_length=64)
    type = OrDefault("The kind of business, in the merchant's words.", "Bakery", max_length=60)
    address = OrDefault("The store's address.", "1 Harbour Street", max_length=lengths.ADDRESS)
    storefrontUrl = PageUrl("Where shoppers find the store.", "https://shop.example/")
    storefrontOrigins = Origins(
        "Other origins of its pages.", ["https://m.shop.example"], required=False, allow_null=True,
        child=ShopOrigin(max_length=MAX_URL_LENGTH), max_length=MOST_ORIGINS,
    )  # fmt: skip

    def validate_slug(self, slug: str) -> str:
        if slug and SLUG.fullmatch(slug) is None:
            raise serializers.ValidationError(
                "Must be 1 to 63 of a-z, 0-9 and hyphens, and neither begin nor end with a hyphen."
            )
        return slug


class EndingStore(ApiSerializer):
    externalId = Identifier("The shop's own id of the store.", "main")
    state = Choice(["ENDING"], "The store is being removed.", "ENDING")


class WantedSerializer(ApiSerializer):
    """What the store's apps read, so that a shop pushes nothing in vain."""

    products = Boolean("Always true.", True)
    pages = Boolean("Always true.", True)
    orders = Boolean("Whether an installed app reads orders.", True)
    reviews = Boolean("Whether an installed app reads reviews.", False)
    ordersSince = Moment(
        "Orders made before are unwanted. null without a reader.", "2026-08-22T15:04:05.123Z", allow_null=True
    )
    hookPoints = StringList("The hook points that running apps answer, by name.", ["order.validate"])
    placements = Boolean("Whether an app shows something on the store's pages.", False)


class PlacedApp(ApiSerializer):
    id = Text("The app.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02")
    slug = Text("Its slug.", "stars")
    name = Text("Its name.", "Loyalty Stars")


APP_SETTINGS: Final = {"title": "Five stars"}


class PlacedScript(ApiSerializer):
    src = Text("Its address.", "https://app.example.com/stars.js")
    integrity = Text("The hash that its bytes must have. null: it isn't pinned.", "sha384-…", allow_null=True)
    position = Choice(["head", "body_end"], "Where it goes.", "head")
    app = PlacedApp()
    settings = Object("The settings.", APP_SETTINGS)


class PlacedWidget(ApiSerializer):
    id = Text("The `blockId` of its messages.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a31")
    src = Text("The address of its frame.", "https://app.example.com/widget?businessId=…&locale=en")
    position = Choice(["bottom_right", "bottom_left"], "Its corner.", "bottom_right")
    settings = Object("The settings.", APP_SETTINGS)
    app = PlacedApp()


class PlacedBlockSerializer(ApiSerializer):
    id = Text("The `blockId` of its messages.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a32")
    src = Text("The address of its frame.", "https://app.example.com/block?businessId=…&locale=en")
    settings = Object("The settings.", APP_SETTINGS)
    maxHeight = Integer("The most that it may have, in pixels.", 400)
    app = PlacedApp()


class PlacementHosts(ApiSerializer):
    scripts = StringList("For `script-src`.", ["https://app.example.com"])
    frames = StringList("For `frame-src`.", ["https://app.example.com"])


class PlacementsSerializer(ApiSerializer):
    """What apps show on a page of a shop."""

    scripts: Any = serializers.ListSerializer(child=PlacedScript(), help_text="On every page.")
    widgets: Any = serializers.ListSerializer(child=PlacedWidget(), help_text="On every page.")
    blocks: Any = serializers.ListSerializer(
        child=PlacedBlockSerializer(), help_text="Of this page, in order."
    )
    hosts = PlacementHosts(help_text="The origins that pages of the store may need for its apps.")


ERASURE_STATES: Final = {
    ErasureState.DUE: "PENDING",
    ErasureState.SENT: "PENDING",
    ErasureState.CONFIRMED: "CONFIRMED",
    ErasureState.OVERDUE: "FAILED",
    ErasureState.UNADDRESSED: "NO_ADDRESS",
}


class EraseBody(ApiSerializer):
    """Exactly one of the two."""

    email = OrDefault("The customer's e-mail address.", "kim@example.com", max_length=lengths.EMAIL)
    phone = OrDefault("The customer's phone number.", None, max_length=lengths.PHONE)


class RequestedErasure(ApiSerializer):
    erasureId = Text("The erasure.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a21")


class AskedApp(ApiSerializer):
    appId = Text("The app.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02")
    appName = Text("Its name.", "Bell")
    state = Choice(
        sorted(set(ERASURE_STATES.values())),
        "Whether it has confirmed. FAILED: it was asked for three days. NO_ADDRESS: it has none to which this can be sent.",
        "PENDING",
    )


class ErasureSerializer(ApiSerializer):
    requestedAt = Moment("When it was asked for.")
    apps: Any = serializers.ListSerializer(
        child=AskedApp(), help_text="The apps that could read something of the customer."
    )


class TicketPerson(ApiSerializer):
    id = Text("The shop's own id of the person.", "kim", max_length=PERSON_ID, trim_whitespace=False)
    name = Text("Their name, which the store's history of apps shows.", "Kim Lee", max_length=lengths.PERSON)
    email = OrDefault(
        "Where notices go. It is never compared with an account's.",
        "kim@shop.example",
        max_length=lengths.EMAIL,
    )


class TicketBody(ApiSerializer):
    person = TicketPerson(help_text="Who is signed in. Their name and address are as in the newest ticket.")
    role = Choice(StoreRole.values, "What the person may do in the store, from now on.", "OWNER")
    next = Text(
        "Where the browser goes: a path that begins with `/merchant/`, `/marketplace/` or `/oauth/authorize?`. Without it, the store's apps; "
        "for ORDERS, the notices.",
        "/merchant/apps/",
        required=False,
        allow_null=True,
        trim_whitespace=False,
        max_length=ways.LONGEST,
    )


class TicketSerializer(ApiSerializer):
    url = Text("Signs the person in, once.", "https://platform.example/accounts/tickets/p2Zc…/")
    expiresAt = Moment("Until when it does so.", "2026-11-20T15:05:05.123Z")
