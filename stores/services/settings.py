"""Settings of the whole store: what it is called and where, its look, its delivery fee."""

from typing import Final, TypedDict, Unpack

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import Business
from accounts.services import update_business
from accounts.services.businesses import BusinessChanges
from common.errors import Conflict, Invalid, check_fields
from common.files.pictures import Decoded
from common.money import decimals
from stores.hookpoints import MAX_MINOR
from stores.models import Product, StorePicture, StoreSettings, StoreTotals
from stores.queries import counted
from stores.services.catalogue.pictures import save_picture

LOGO_SIDE: Final = 800  # pixels
WIRE_NAMES: Final = {
    "delivery_fee": "deliveryFee",
    "accent": "accent",
    "headings": "headings",
    "tagline": "tagline",
    "hero_text": "heroText",
}
CURRENCY_FIXED: Final = "The store has orders in its currency, so the currency can't be changed."


class Look(TypedDict, total=False):
    delivery_fee: int  # minor units
    accent: str
    headings: str
    tagline: str
    hero_text: str
    logo: Decoded | None  # None: removed
    hero_picture: Decoded | None
    hero_alt: str  # of the picture that the store has afterwards


def set_delivery_fee(*, business: Business, fee: int) -> None:
    """`fee` is in minor units and applies to orders placed from now on. Raises `Invalid`."""
    change_look(business=business, delivery_fee=fee)


@transaction.atomic
def change_look(*, business: Business, **changes: Unpack[Look]) -> StoreSettings:
    """Change the given settings. A picture that is replaced or removed is deleted. Raises `Invalid`."""
    Business.objects.select_for_update(no_key=True).get(pk=business.pk)  # there may be no row of settings yet
    settings, _ = StoreSettings.objects.get_or_create(business=business)
    replaced = []
    alt = changes.pop("hero_alt", None)
    for column, value in changes.items():
        if column in ("logo", "hero_picture"):
            replaced.append(getattr(settings, f"{column}_id"))
            value = _saved(business, value, LOGO_SIDE if column == "logo" else None)  # type: ignore[arg-type]
        setattr(settings, column, value)
    check_fields(settings, WIRE_NAMES)
    settings.save()
    StorePicture.objects.filter(business=business, pk__in=filter(None, replaced)).delete()
    if alt is not None and (picture := settings.hero_picture):
        picture.alt = alt
        check_fields(picture, {"alt": "heroAlt"})
        picture.save(update_fields=["alt"])
    return settings


@transaction.atomic
def mark_seen(business: Business) -> None:
    """Remember the first time that the merchant opened the store as shoppers see it."""
    if not StoreSettings.objects.filter(business=business, seen_at__isnull=False).exists():
        change_look(business=business)  # there may be no row of settings yet
        StoreSettings.objects.filter(business=business).update(seen_at=timezone.now())


def _saved(business: Business, decoded: Decoded | None, side: int | None) -> StorePicture | None:
    if decoded is None:
        return None
    return save_picture(StorePicture(business=business), decoded.scaled(side) if side else decoded)


def currency_is_fixed(business: Business) -> bool:
    """Whether the store has, or had, orders in its currency."""
    return counted(business, "orders")[0] > 0


@transaction.atomic
def change_business(*, business: Business, **changes: Unpack[BusinessChanges]) -> None:
    """Change the business itself. In another currency, prices and the delivery fee keep their numbers: 12.50 stays 12.50.

    Raises `Invalid`, and `Conflict` for another currency after the first order.
    """
    if "currency" in changes:
        StoreTotals.objects.select_for_update().get(business=business)  # orders count themselves there
        business.refresh_from_db(fields=["currency"])
    before, currency = business.currency, changes.get("currency", business.currency)
    if currency != before and currency_is_fixed(business):
        raise Conflict(CURRENCY_FIXED)
    update_business(business=business, **changes)
    if currency != before:
        _rescale(business, decimals(currency) - decimals(before))


def _rescale(business: Business, places: int) -> None:
    factor = 10 ** abs(places)
    for rows, column in (
        (Product.objects.filter(business=business), "price"),
        (StoreSettings.objects.filter(business=business), "delivery_fee"),
    ):
        if places > 0:
            if rows.filter(**{f"{column}__gt": MAX_MINOR // factor}).exists():
                raise Invalid.field("currency", "A price of the store is too high for this currency.")
            rows.update(**{column: F(column) * factor})
        elif places < 0:
            rows.update(**{column: (F(column) + factor // 2) / factor})
