from django.db import models


class Role(models.TextChoices):
    """What an account is for. A reviewer is made by an administrator and has no business."""

    DEVELOPER = "DEVELOPER", "Developer"
    MERCHANT = "MERCHANT", "Merchant"
    REVIEWER = "REVIEWER", "Reviewer"


SELF_REGISTERED = (Role.DEVELOPER, Role.MERCHANT)
