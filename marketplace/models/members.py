"""The members of apps beside their owners."""

from datetime import datetime

from django.db import models

from accounts.models import LASTS, Invitable, User
from marketplace.enums import AppRole


class Membership(Invitable):
    """A person's role on an app, or an invitation to it.

    The owner has no row: that is `App.developer`, so there is always exactly one. `owner_offered_at` is when the owner offered the
    app to this developer. Only `marketplace.services.members` and `transfers` change it.
    """

    app = models.ForeignKey("marketplace.App", on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="memberships")
    role = models.CharField(
        max_length=10, choices=[(each.value, each.label) for each in AppRole if each != AppRole.OWNER]
    )
    owner_offered_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["app", "user"], name="membership_once"),
            models.UniqueConstraint(
                fields=["app", "email"], condition=models.Q(user=None), name="invitation_once"
            ),
            models.UniqueConstraint(
                fields=["app"], condition=models.Q(owner_offered_at__isnull=False), name="one_offer_per_app"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.user_id or self.email}"

    @property
    def offer_expires_at(self) -> datetime | None:
        return self.owner_offered_at and self.owner_offered_at + LASTS
