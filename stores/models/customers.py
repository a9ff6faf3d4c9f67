"""What is kept of a customer who was erased: that it was done."""

from django.db import models
from django.utils import timezone

from accounts.models import Business, User
from common.db.fields import EncryptedTextField
from common.ids import new_id


class CustomerErasure(models.Model):
    """The erasure of one customer of a store. Made by `stores.services.customer_erasure`; it knows nothing of the person.

    The ids are those of the records that were blanked, and the words those of the person (`stores.copies.Words`). They are kept
    until the copies of requests that were under way are looked for once more, which is what `swept_at` says.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # The index below begins with it.
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="+", db_index=False)
    by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+", db_index=False)
    at = models.DateTimeField(default=timezone.now, editable=False)
    order_ids = models.JSONField(default=list)
    review_ids = models.JSONField(default=list)
    words = EncryptedTextField(null=True, editable=False)
    swept_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index("business", models.F("id").desc(), name="customer_erasure_newest"),
            models.Index("at", name="customer_erasure_to_sweep", condition=models.Q(swept_at=None)),
        ]

    def __str__(self) -> str:
        return f"Erasure of a customer on {self.at:%Y-%m-%d}"
