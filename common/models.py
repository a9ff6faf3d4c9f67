from django.db import models


class ObjectiveCount(models.Model):
    """How many events of five minutes were good and bad, for one objective. Kept for 31 days.

    Written only by `common.observability.objectives`, by each process for what it has counted. The administration adds them up.
    """

    objective = models.CharField(max_length=20)
    at = models.DateTimeField(help_text="When the five minutes began.")
    good = models.PositiveBigIntegerField(default=0)
    bad = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "service levels"
        constraints = [models.UniqueConstraint(fields=["at", "objective"], name="one_count_of_an_objective")]

    def __str__(self) -> str:
        return f"{self.objective} from {self.at} on: {self.good} good, {self.bad} bad"
