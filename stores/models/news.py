"""What waits to be mailed to merchants."""

from django.db import models
from django.utils import timezone

from accounts.enums import StoreNotice
from accounts.models import Business
from common.ids import new_id
from stores.models.orders import Order
from stores.models.pages import Review
from stores.models.products import Product


class MerchantNews(models.Model):
    """Something to mail to a store's merchant. Made, sent and removed by `stores.services.merchant_mails`.

    The row refers to one of order, product and review, and holds no words: the mail is written when it is sent.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="merchant_news")
    kind = models.CharField(max_length=16, choices=StoreNotice.choices)
    order = models.ForeignKey(Order, on_delete=models.CASCADE, null=True, related_name="+")
    product = models.ForeignKey(Product, on_delete=models.CASCADE, null=True, related_name="+")
    review = models.ForeignKey(Review, on_delete=models.CASCADE, null=True, related_name="+")
    at = models.DateTimeField(default=timezone.now, editable=False)
    due_at = models.DateTimeField(
        default=timezone.now, db_index=True, help_text="When the next run looks at it."
    )

    class Meta:
        verbose_name_plural = "merchant news"

    def __str__(self) -> str:
        return f"{self.kind} for {self.business_id}"
