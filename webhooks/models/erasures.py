"""Requests that apps erase data."""

from django.db import models

from common.ids import new_id
from installations.models import Installation
from stores.models import CustomerErasure
from webhooks.enums import OPEN_ERASURES, ErasureState
from webhooks.models.deliveries import Event


class ErasureQuerySet(models.QuerySet["Erasure"]):
    def of_businesses(self) -> "ErasureQuerySet":
        return self.filter(customer=None)

    def of_customers(self) -> "ErasureQuerySet":
        return self.filter(customer__isnull=False)


class Erasure(models.Model):
    """The request that an app erase data: a business's after an uninstall, or one customer's.

    Only `webhooks.services.erasure` and `webhooks.services.customer_erasure` change its state. The deliveries of `event` send
    the request. This row is kept longer than those, as proof; for a business's, so is the installation's history.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    installation = models.ForeignKey(
        Installation, on_delete=models.CASCADE, related_name="erasures", db_index=False
    )
    # The second constraint below begins with it.
    customer = models.ForeignKey(
        CustomerErasure,
        on_delete=models.CASCADE,
        null=True,
        related_name="requests",
        db_index=False,
        help_text="Whose data; empty: the business's.",
    )
    event = models.OneToOneField(
        Event,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        db_constraint=False,
        help_text="Empty after 30 days, when events are deleted.",
    )
    state = models.CharField(max_length=11, choices=ErasureState.choices, default=ErasureState.DUE)
    due_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, help_text="The first attempt.")
    confirmed_at = models.DateTimeField(null=True, help_text="The attempt that the app answered with 2xx.")
    alarmed_at = models.DateTimeField(null=True, help_text="When operators were notified that it is overdue.")
    answer = models.CharField(
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text="Of a customer's: the app's response in words.",
    )

    objects = ErasureQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["installation"],
                condition=models.Q(customer=None),
                name="one_erasure_of_a_business_per_installation",
            ),
            models.UniqueConstraint(
                fields=["customer", "installation"],
                condition=models.Q(customer__isnull=False),
                name="one_erasure_of_a_customer_per_installation",
            ),
        ]
        indexes = [
            models.Index("installation", name="erasure_of_installation"),
            models.Index("due_at", name="erasure_open", condition=models.Q(state__in=OPEN_ERASURES)),
        ]

    def __str__(self) -> str:
        whose = "Data erasure of" if self.customer_id is None else "Erasure of a customer's data by"
        return f"{whose} {self.installation}"
