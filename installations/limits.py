"""What one installation may ask for by the app API. The views hold apps to it, and the documentation lists it."""

from datetime import timedelta
from typing import Final

REQUESTS_A_MINUTE: Final = 60

# Of one page, by default and at most, where they differ from those of all lists.
ORDERS_A_PAGE: Final = (20, 50)
REVIEWS_A_PAGE: Final = (10, 50)
EVENTS_A_PAGE: Final = (100, 500)

MAX_QUANTITY: Final = 1_000_000  # of one line of an order
EXPORTS_KEPT: Final = timedelta(hours=24)
