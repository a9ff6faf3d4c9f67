"""Which rows of a shop somebody may read (contract, section 17). The door finds it out, since `stores` knows nothing of apps."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class WantedRows:
    """Products and pages always are. Of orders those that were placed at `orders_since` or later; None: no order is too old."""

    orders: bool
    reviews: bool
    orders_since: datetime | None
