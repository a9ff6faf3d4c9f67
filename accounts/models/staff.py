"""People with roles beside an owner, and who is invited: what those of an app and of a store have in common, and the staff of stores."""

from datetime import datetime, timedelta
from typing import Final, Self, TypeVar

from django.db import models
from django.utils import timezone

from accounts.enums import StoreRole
from accounts.models.people import Business, User
from common.ids import new_id

LASTS: Final = timedelta(days=7)  # an invitation, and an offer to transfer an app


Row = TypeVar("Row", bound="Invitable")


class InvitableQuerySet(models.QuerySet[Row]):
    def active(self) -> Self:
        return self.filter(user__isnull=False)

    def standing(self, now: datetime) -> Self:
        """People, and invitations that can still be accepted."""
        return self.filter(models.Q(user__isnull=False) | models.Q(since__gt=now - LASTS))


class Invitable(models.Model):
    """A person's role; or an invitation for `email`, while there is no `user`. `since` is when it was accepted, or sent."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    email = models.CharField(max_length=254, blank=True)
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    since = models.DateTimeField(default=timezone.now)

    role: str  # a column of the models, with the roles that the thing has

    objects = InvitableQuerySet.as_manager()

    class Meta:
        abstract = True

    @property
    def address(self) -> str:
        return self.user.email if self.user else self.email

    @property
    def expires_at(self) -> datetime:
        """Of an invitation."""
        return self.since + LASTS


class Staff(Invitable):
    """A person's role in a merchant's store, or an invitation to it.

    The owner has no row: that is `Business.owner`, so there is always exactly one. Only `accounts.services.staff` changes it.
    """

    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="staff")
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="staff_of")
    role = models.CharField(
        max_length=10, choices=[(each.value, each.label) for each in StoreRole if each != StoreRole.OWNER]
    )

    class Meta:
        verbose_name_plural = "staff"
        constraints = [
            models.UniqueConstraint(fields=["business", "user"], name="staff_once"),
            models.UniqueConstraint(
                fields=["business", "email"], condition=models.Q(user=None), name="staff_invited_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.user_id or self.email}"
