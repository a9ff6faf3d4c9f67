"""What the merchant set for the app: its settings, as the checkout needs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from extension_platform_sdk import to_minor

from .cache import Cache
from .connections import Connection
from .platform import Platform


@dataclass(frozen=True, slots=True)
class Rules:
    """``free_delivery_from`` is an amount in major units. The defaults are those of the manifest's ``settingsSchema``."""

    bell_pay: bool = True
    free_delivery_from: float = 30
    discount_from_pieces: int = 3
    discount_percent: float = 10
    most_of_one_product: int = 12

    @classmethod
    def of(cls, settings: dict[str, Any]) -> Rules:
        """Read the platform's ``settings``; what is missing, or not what the schema says, is the default."""
        given = cls()
        return cls(
            bell_pay=settings.get("bellPay") is not False,
            free_delivery_from=_number(settings.get("freeDeliveryFrom"), given.free_delivery_from),
            discount_from_pieces=int(_number(settings.get("discountFromPieces"), given.discount_from_pieces)),
            discount_percent=_number(settings.get("discountPercent"), given.discount_percent),
            most_of_one_product=int(_number(settings.get("mostOfOneProduct"), given.most_of_one_product)),
        )

    def delivery_fee(self, subtotal: int, fee: int, currency: str) -> int:
        """What delivery costs, where the store itself would take ``fee``. All in minor units."""
        enough = to_minor(self.free_delivery_from, currency)
        return 0 if enough and subtotal >= enough else fee

    def discount(self, pieces: int, subtotal: int) -> int:
        """What is taken off, in minor units, rounded down."""
        return int(subtotal * self.discount_percent // 100) if pieces >= self.discount_from_pieces else 0


class Rulebook:
    """The rules of every store, read again every few seconds, so that changes reach the checkout soon."""

    def __init__(self, platform: Platform, *, seconds: float = 3) -> None:
        self._platform = platform
        self._cache: Cache[Rules] = Cache(seconds=seconds)

    def of(self, connection: Connection) -> Rules:
        """The rules of a store; those last known where the platform doesn't answer."""

        def read() -> Rules:
            return Rules.of(self._platform.settings(connection))

        return self._cache.get(connection.business_id, read, otherwise=Rules())

    def forget(self, business_id: str) -> None:
        """Delete what is kept of a store."""
        self._cache.forget(business_id)


def _number(value: object, default: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return value
