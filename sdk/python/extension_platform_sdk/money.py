"""Money on the wire: hook calls speak of minor units (1250), the app API and webhooks of major ones (12.5).

A currency's number of decimals is that of ISO 4217: two, but for those listed here.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

_NONE = frozenset("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split())
_THREE = frozenset("BHD IQD JOD KWD LYD OMR TND".split())


def decimals(currency: str) -> int:
    """How many decimals a currency's smallest unit has; 2 for a code that is not known here."""
    if currency in _NONE:
        return 0
    return 3 if currency in _THREE else 2


def to_minor(amount: float, currency: str) -> int:
    """12.5 USD is 1250, 1250 JPY is 1250; rounded half up to the smallest unit."""
    scaled = Decimal(str(amount)) * 10 ** decimals(currency)
    return int(scaled.quantize(Decimal(1), rounding=ROUND_HALF_UP))


def to_major(minor: int, currency: str) -> float:
    """1250 USD is 12.5."""
    scale: int = 10 ** decimals(currency)
    return minor / scale
