"""The members of apps beside their owners."""

from datetime import datetime, timedelta
from typing import Final

from django.db import models
from django.utils import timezone

from accounts.models import User
from common.ids import new_id
from marketplace.enums import AppRole

LASTS: Final = timedelta(days=7)  # an invitation, and an offer to transfer an app


class MembershipQuerySet(models.QuerySet["Membership"]):
    def active(self) -> "MembershipQuerySet":
        return self.filter(user__isnull=False)

    def standing(self, now: datetime) -> "MembershipQuerySet":
        """Members, and invitations that can still be accepted."""
        return self.filter(models.Q(user__isnull=False) | models.Q(since__gt=now - LASTS))


class Membership(models.Model):
    """A person's role on an app; or an invitation for `email`, while there is no `user`. `since` is when it was accepted, or sent.

    The owner has no row: that is `App.developer`, so there is always exactly one. `owner_offered_at` is when the owner offered the
    app to this developer. Only `marketplace.services.members` and `transfers` change it.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey("marketplace.App", on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="memberships")
    email = models.CharField(max_length=254, blank=True)
    role = models.CharField(
        max_length=10, choices=[(each.value, each.label) for each in AppRole if each != AppRole.OWNER]
    )
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    since = models.DateTimeField(default=timezone.now)
    owner_offered_at = models.DateTimeField(null=True)

    objects = MembershipQuerySet.as_manager()

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
    def address(self) -> str:
        return self.user.email if self.user else self.email

    @property
    def expires_at(self) -> datetime:
        """Of an invitation."""
        return self.since + LASTS

    @property
    def offer_expires_at(self) -> datetime | None:
        return self.owner_offered_at and self.owner_offered_at + LASTS
