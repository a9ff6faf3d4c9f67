"""What waits to be mailed to merchants."""

from django.db import models
from django.utils import timezone

from accounts.enums import StoreNotice
from accounts.models import Business, User
from common.ids import new_id


class MerchantNews(models.Model):
    """Something to mail to a person of a store. Made, sent and removed by `stores.services.merchant_mails`.

    It holds no words: the mail is written when it is sent, and not at all if what it is about is gone. So the id is no reference,
    which would lock the largest tables in a migration.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="merchant_news")
    kind = models.CharField(max_length=16, choices=StoreNotice.choices)
    recipient = models.ForeignKey(
        User,
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
        db_index=False,
        help_text="Empty until a run has made a row for each person of the store.",
    )
    about_id = models.UUIDField(help_text="Of the order, the product or the review.")
    at = models.DateTimeField(default=timezone.now, editable=False)
    due_at = models.DateTimeField(
        default=timezone.now, db_index=True, help_text="When the next run looks at it."
    )

    class Meta:
        verbose_name_plural = "merchant news"

    def __str__(self) -> str:
        return f"{self.kind} for {self.business_id}"
