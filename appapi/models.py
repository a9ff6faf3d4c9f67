"""Idempotency keys and exports."""

from django.db import models
from django.utils import timezone

from common.db.leases import LeaseField
from common.ids import new_id
from installations.models import Installation


class IdempotencyKey(models.Model):
    """The first response to a request with an `Idempotency-Key`, kept for 24 hours.

    Changed only by `appapi.services.idempotency`. Each try has a lease of the row. `status` and `body` are written in the
    same transaction as the request's own changes.
    """

    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    request_digest = models.CharField(max_length=64, help_text="SHA-256 of the canonical request, in hex.")
    lease_until = LeaseField(null=True, help_text="Empty: no try is under way.")
    status = models.PositiveSmallIntegerField(null=True, help_text="Empty: there is no answer yet.")
    body = models.TextField(blank=True, help_text="JSON, byte for byte as it was answered.")
    error_code = models.CharField(max_length=60, blank=True, db_default="", help_text="Of an error.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["installation", "key"], name="idempotency_key_in_installation")
        ]

    def __str__(self) -> str:
        return self.key


class ExportResource(models.TextChoices):
    PRODUCTS = "products"
    ORDERS = "orders"


class ExportStatus(models.TextChoices):
    PENDING = "PENDING"
    READY = "READY"
    FAILED = "FAILED"


class Export(models.Model):
    """All records of a list as one file, for an app's first sync.

    Changed only by `appapi.services.exports`. A worker takes a lease of a pending row.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="+", db_index=False)
    resource = models.CharField(max_length=8, choices=ExportResource.choices)
    status = models.CharField(max_length=7, choices=ExportStatus.choices, default=ExportStatus.PENDING)
    lease_until = LeaseField(null=True)
    rows = models.PositiveIntegerField(null=True)
    etag = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the file, in hex.")
    feed_cursor = models.TextField(blank=True, help_text="Where the feed goes on from the file.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, db_index=True, help_text="The file is deleted then.")
    erased_at = models.DateTimeField(
        null=True, help_text="When its file was deleted, because a customer in it was erased."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["installation"],
                condition=models.Q(status="PENDING"),
                name="one_pending_export_of_an_installation",
            )
        ]
        indexes = [
            models.Index("id", name="export_pending", condition=models.Q(status="PENDING")),
        ]

    def __str__(self) -> str:
        return f"Export of {self.resource}"

    @property
    def file_name(self) -> str:
        return f"{self.id}.ndjson.gz"
