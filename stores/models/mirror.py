"""What of a shop's rows is mirrored here (contract, section 17). Written by `stores.connected` alone."""

from typing import Any

from django.db import models
from django.utils import timezone

from accounts.models import EXTERNAL_ID, Business
from common.db.fields import CodePointField
from stores.enums import Resource


def external_id() -> "models.CharField[Any, Any]":
    """The shop's id of a mirrored row; null in rows of own stores."""
    return models.CharField(max_length=EXTERNAL_ID, null=True, editable=False)


class MirroredRow(models.Model):
    """An id of a shop, and what is known of its row.

    `row_id` is the id here, made at the first mention. Without a `version` no row came: it was mentioned, or it was an order that
    no app wanted, of the time `placed_at`. A deleted one keeps its version, and gets another `row_id` when it comes back. `digest` is
    that of what the shop sent, with all defaults, under `digest_key`, `sent_digest` that of its fields as they came, null where the row came
    another way, and `attributes_digest` that of an order's attributes, null for none. All go when the row is deleted. A row that is
    received after `erased_at` is taken without the fields that name the person.
    """

    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="+", db_index=False)
    resource = models.CharField(max_length=8, choices=Resource.choices)
    external_id = CodePointField(max_length=EXTERNAL_ID)
    row_id = models.UUIDField(null=True, unique=True)
    version = models.BigIntegerField(null=True)
    digest = models.BinaryField(max_length=32, null=True)
    digest_key = models.BinaryField(max_length=16, null=True)
    sent_digest = models.BinaryField(max_length=32, null=True)
    attributes_digest = models.BinaryField(max_length=32, null=True)
    is_deleted = models.BooleanField(default=False)
    placed_at = models.DateTimeField(null=True)
    erased_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField(null=True)
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["business", "resource", "external_id"], name="mirrored_once")
        ]
        indexes = [
            models.Index(
                fields=["made_at"], name="mentioned_only", condition=models.Q(version=None, placed_at=None)
            )
        ]

    def __str__(self) -> str:
        return f"{self.resource}/{self.external_id} of {self.business_id}"


class MirrorState(models.Model):
    """How the mirror of a store is: for the operator. Its row is the lock of all changes of the mirror.

    `snapshots` has for each resource the time and what differed: `{"at", "missing", "outdated", "ahead", "unknown", "deleted"}`. `refused`
    has the newest rows that were refused, newest first: of `{"at", "resource", "externalId", "code", "message"}`.
    """

    business = models.OneToOneField(
        Business, on_delete=models.CASCADE, primary_key=True, related_name="mirror"
    )
    last_row_at = models.DateTimeField(null=True)
    last_snapshot_at = models.DateTimeField(null=True)
    snapshots = models.JSONField(default=dict)
    refused = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"Mirror of {self.business_id}"
