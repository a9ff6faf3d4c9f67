"""What the people of an app and those of a store have in common: a row is a person with a role, or an invitation."""

from datetime import datetime, timedelta
from typing import Final, Self, TypeVar

from django.db import models
from django.utils import timezone

from accounts.models.people import User
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
