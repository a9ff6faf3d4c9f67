"""What the app API itself must remember."""

from django.db import models
from django.utils import timezone

from installations.models import Installation


class IdempotencyKey(models.Model):
    """The first answer to a request that carried an `Idempotency-Key`, kept for 24 hours.

    Changed only by `appapi.services.idempotency`. A try at the request holds the row until `lease_until`,
    which is also the try's name: who finds another value there has been overtaken, and must change nothing.
    `status` and `body` are written with what the request changed, in one transaction.
    """

    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    request_digest = models.CharField(max_length=64, help_text="SHA-256 of the canonical request, in hex.")
    lease_until = models.DateTimeField(null=True, help_text="Empty: no try is under way.")
    status = models.PositiveSmallIntegerField(null=True, help_text="Empty: there is no answer yet.")
    body = models.TextField(blank=True, help_text="JSON, byte for byte as it was answered.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["installation", "key"], name="idempotency_key_in_installation")
        ]

    def __str__(self) -> str:
        return self.key
