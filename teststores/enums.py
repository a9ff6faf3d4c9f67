from django.db import models


class StoreScenario(models.TextChoices):
    """What a test store has when it opens (contract, section 13)."""

    DEFAULT = "default", "Products and some orders, as a fresh sandbox store has"
    EMPTY = "empty", "Nothing"
    BUSY = "busy", "500 products and 500 orders"
