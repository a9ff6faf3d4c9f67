"""What was asked of shops in the name of apps (contract, section 17, "Commands")."""

from django.db import models
from django.utils import timezone

from accounts.models import Business
from common.ids import new_id
from common.tracing import current_request_id
from extensions.enums import CommandOutcome, ShopCommandName
from installations.models import Installation


class ShopCommand(models.Model):
    """One request to a shop's `commands` URL. Written before it is sent, with its outcome afterwards; kept for 30 days.

    Repeated ones share a `command_id`. `order_id` is our id of the order, null for an order that doesn't exist yet. `message` is the one that
    the app got. The bodies are kept as those of hook calls: of sandbox stores the request, of all the beginning of the answer.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    command_id = models.UUIDField()
    command = models.CharField(max_length=20, choices=ShopCommandName.choices)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="+", db_index=False)
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="+", db_index=False)
    order_id = models.UUIDField(null=True)
    sent_at = models.DateTimeField(default=timezone.now)
    duration_ms = models.PositiveIntegerField(default=0)
    outcome = models.CharField(max_length=11, choices=CommandOutcome.choices, default=CommandOutcome.SENT)
    http_status = models.PositiveSmallIntegerField(null=True)
    message = models.CharField(max_length=300, blank=True)
    request_body = models.TextField(blank=True)
    answer_excerpt = models.TextField(blank=True)
    request_id = models.UUIDField(
        default=current_request_id, null=True, editable=False, help_text="Of the app's request."
    )

    class Meta:
        indexes = [
            models.Index("command_id", "sent_at", name="shop_command_tries"),
            models.Index("installation", models.F("sent_at").desc(), name="shop_command_of_app"),
            models.Index("business", models.F("sent_at").desc(), name="shop_command_of_store"),
            models.Index("sent_at", name="shop_command_age"),
        ]

    def __str__(self) -> str:
        return f"{self.command} at {self.sent_at:%Y-%m-%d %H:%M}: {self.get_outcome_display()}"
