"""What apps cost the visitors of a store."""

from django.db import models

from installations.models import Installation


class StorefrontCost(models.Model):
    """What an app added to a store's pages on one UTC day, as measured in shoppers' browsers.

    The columns are sums over `visits`, page views that were measured. `unshared` counts those in which the app didn't let
    pages read the size of everything that it loads. Written by `extensions.services.costs`; kept for 30 days, and deleted
    with the installation.
    """

    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField(db_index=True)
    visits = models.PositiveIntegerField(default=0)
    unshared = models.PositiveIntegerField(default=0)
    milliseconds = models.PositiveBigIntegerField(default=0)
    bytes = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["installation", "day"], name="one_cost_of_a_day")]

    def __str__(self) -> str:
        return f"{self.installation_id} on {self.day}: {self.visits} visits"
