"""The rate limit of a connection (contract, section 17)."""

from typing import Final

from django.conf import settings

from common.rest import rates
from common.rest.rates import ApiRate

STRANGERS_A_MINUTE: Final = 60  # of a network, without a good key

RATE: Final = ApiRate(
    "store-api", ("/store-api",), lambda: settings.STORE_API_RATE, lambda: STRANGERS_A_MINUTE
)


class RateHeadersMiddleware(rates.RateHeadersMiddleware):
    rate = RATE
