from django.db import models


class Category(models.TextChoices):
    """The categories of the specification's table "App"."""

    ANALYTICS = "analytics", "Analytics"
    MARKETING = "marketing", "Marketing"
    SALES = "sales", "Sales"
    SHIPPING = "shipping", "Shipping"
    POS = "pos", "Point of sale"
    COMMUNICATION = "communication", "Communication"
    AUTOMATION = "automation", "Automation"
    LOYALTY = "loyalty", "Loyalty"
    OTHER = "other", "Other"


class AppStatus(models.TextChoices):
    """The state of the developer's working copy. The approved version lives on beside it."""

    DRAFT = "DRAFT", "Draft"
    PENDING_REVIEW = "PENDING_REVIEW", "In review"
    APPROVED = "APPROVED", "Approved"
