"""Answers that are kept for repeated calls."""

from typing import Any

from django.db import models
from django.utils import timezone

from common.db.leases import LeaseField


class KeptAnswer(models.Model):
    """The first answer to a call with an `Idempotency-Key`, kept for 24 hours.

    Changed only by `common.rest.idempotency`. Each try has a lease of the row. The answer is written in the transaction of what the call
    changed. Only a caller who sends the key again can read it: it is encrypted by a key that is made of that one, of which the row has a
    digest.
    """

    owner = models.CharField(max_length=60, help_text="Whose key it is, such as installation:01a2….")
    key_digest = models.CharField(max_length=64)
    request_digest = models.CharField(max_length=64, help_text="SHA-256 of method, path and query, in hex.")
    body_digest = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 of the body, in hex. Empty: it was not read."
    )
    lease_until: Any = LeaseField(null=True, help_text="Empty: no try is under way.")
    status = models.PositiveSmallIntegerField(null=True, help_text="Empty: there is no answer yet.")
    answer = models.TextField(blank=True, help_text="Headers and body, encrypted. Empty: it was erased.")
    size = models.PositiveIntegerField(default=0, help_text="Characters of the answer.")
    needs = models.TextField(blank=True, help_text="What the call needed besides its credential.")
    about = models.TextField(blank=True, help_text="The ids in the answer, by which an erasure finds it.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "key_digest"], include=["size"], name="kept_answer_of_a_key"
            )
        ]

    def __str__(self) -> str:
        return f"Answer to {self.owner}"
