"""Test stores."""

from datetime import datetime, timedelta
from typing import ClassVar

from django.db import models
from django.utils import timezone

from accounts.models import Business, User
from common.ids import new_id
from marketplace.models import App


class TestStoreQuerySet(models.QuerySet["TestStore"]):
    def open(self, now: datetime | None = None) -> "TestStoreQuerySet":
        """Those that are neither deleted nor expired, though their rows may still be there."""
        return self.filter(business__expires_at__gt=now or timezone.now())


class TestStore(models.Model):
    """A throwaway store on which one app's working copy is installed, for its author's tests.

    Changed only by `teststores.services`. It goes with its business, which the scheduler deletes after
    `Business.expires_at` (`conformance.services.runs`): by the row, so a test that is killed leaves nothing.
    """

    __test__ = False  # not a test case for pytest

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # No database constraint for two of them: a table that refers to three others would lock all three when it is made.
    app = models.ForeignKey(
        App, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    business = models.OneToOneField(Business, on_delete=models.CASCADE, related_name="+")
    made_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_constraint=False)
    ahead = models.DurationField(
        default=timedelta,
        help_text="How far its clock is before the real one: what was due by it has been moved.",
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[TestStoreQuerySet] = TestStoreQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        indexes = [models.Index(fields=["app", "made_by", "-id"], name="test_stores_of_app")]

    def __str__(self) -> str:
        return self.business.name


class StoreScenario(models.TextChoices):
    """What a test store has when it opens (contract, section 13)."""

    DEFAULT = "default", "Products and some orders, as a fresh sandbox store has"
    EMPTY = "empty", "Nothing"
    BUSY = "busy", "500 products and 500 orders"
