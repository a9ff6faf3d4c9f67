"""Values in the app API's own tables."""

from django.db import models


class ExportResource(models.TextChoices):
    PRODUCTS = "products"
    ORDERS = "orders"


class ExportStatus(models.TextChoices):
    PENDING = "PENDING"
    READY = "READY"
    FAILED = "FAILED"
