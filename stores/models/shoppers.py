"""What is kept for shoppers: carts, the mails that wait to be sent to them and to merchants, and that a customer was erased."""

from django.db import models
from django.utils import timezone

from accounts.enums import StoreNotice
from accounts.models import Business, User
from common.db.fields import EncryptedTextField
from common.ids import new_id
from stores.enums import OrderStatus
from stores.models.orders import Order


class Shopper(models.Model):
    """A person in one store, for the apps that must recognize them: made at the first order or the first call of a hook.

    The row doesn't say who it is. `digest` finds it by the normal form of an e-mail address or a phone number (`stores.buyers.shoppers`), and
    each installation knows the person by a key of its own that is made from `seed`. It goes when the person is erased, or after 90 days
    without an order. Written by `stores.buyers.shoppers` alone.
    """

    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="+", db_index=False)
    digest = models.CharField(max_length=64)
    seed = models.BinaryField(max_length=16)
    ordered_at = models.DateTimeField(
        default=timezone.now,
        db_index=True,
        help_text="The newest order; before the first one, when it was made.",
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["business", "digest"], name="shopper_of_store")]

    def __str__(self) -> str:
        return f"Shopper {self.pk}"


class Cart(models.Model):
    """What a shopper's browser has gathered in one store, and the latest orders that it placed there.

    It names no person. Changed only by `stores.services.carts`.
    """

    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="carts")
    key_digest = models.CharField(max_length=64, help_text="SHA-256 of the key in the browser's cookie.")
    lines = models.JSONField(default=list, help_text='Of {"product", "name", "quantity"}.')
    orders = EncryptedTextField(
        default="[]", help_text='JSON, newest first: of {"key", "number"}; the key opens the order\'s page.'
    )
    notices = models.JSONField(
        default=list, help_text="Level and text of what the next page tells the shopper."
    )
    attributes = models.JSONField(
        default=dict, db_default={}, help_text="As `Order.attributes`, for the order that is placed from it."
    )
    # Ids of `Shopper`, which are never used again: a person who is forgotten is found no longer.
    shopper_id = models.BigIntegerField(
        null=True, help_text="Of its newest order, or of a mailed link that was confirmed since."
    )
    proven_id = models.BigIntegerField(
        null=True, help_text="Who has shown in this browser that a mailed link reached them; the newest one."
    )
    updated_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key_digest", "business"], name="cart_of_key_in_business")
        ]

    def __str__(self) -> str:
        return f"Cart {self.pk}"


class StoreVisits(models.Model):
    """How often a store was visited on a day of its time zone. It knows no visitor.

    Changed only by `stores.services.checkout`.
    """

    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="visits")
    day = models.DateField()
    visits = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["business", "day"], name="visits_of_a_store_on_a_day")]
        verbose_name_plural = "store visits"

    def __str__(self) -> str:
        return f"{self.visits} on {self.day}"


class BuyerMails(models.Model):
    """How many mails a store has sent to buyers on its newest day with any, in UTC. Only in a store's first days."""

    business = models.OneToOneField(
        Business, on_delete=models.CASCADE, primary_key=True, related_name="buyer_mails"
    )
    day = models.DateField()
    sent = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "buyer mails"

    def __str__(self) -> str:
        return f"{self.sent} on {self.day}"


class WaitingMail(models.Model):
    """A mail to a buyer that was over a new store's limit. Made, sent and removed by `stores.services.order_mails`.

    `status` is the one that it reports; empty for a new order, whose page `page_key` opens.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="waiting_mails")
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="waiting_mails")
    status = models.CharField(max_length=16, blank=True, choices=OrderStatus.choices)
    page_key = EncryptedTextField(default="")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"Mail about {self.order_id}"


class CustomerErasure(models.Model):
    """The erasure of one customer of a store. Made by `stores.services.customer_erasure`; it knows nothing of the person.

    The ids are those of the records that were blanked, and the words those of the person (`stores.customers.Words`). They are kept
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
