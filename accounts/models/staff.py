"""The staff of stores beside their owners."""

from django.db import models

from accounts.enums import StoreRole
from accounts.models.invitations import Invitable
from accounts.models.people import Business, User


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
