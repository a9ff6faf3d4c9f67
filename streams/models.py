"""How far copies of all stores' events have come."""

from django.db import models


class Stream(models.Model):
    """One copy, for an operator's own bus or warehouse, by the name given to `manage.py stream_events`.

    Only `streams.services.batches` writes it. All events before `position` have been written. While `until` is set, those
    from `position` up to there are being written.
    """

    name = models.SlugField(max_length=50, unique=True)
    position = models.BigIntegerField(default=0)
    until = models.BigIntegerField(null=True)
    complete_at = models.DateTimeField(help_text="No event that was made earlier is still to be written.")
    events_written = models.PositiveBigIntegerField(default=0)
    gaps = models.PositiveIntegerField(
        default=0, help_text="How often events may have been removed before they were written."
    )

    def __str__(self) -> str:
        return self.name
