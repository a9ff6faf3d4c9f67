"""What a merchant was mailed about an installed app."""

from django.db import models
from django.db.models import Q

from installations.models import Installation


class MerchantNotice(models.Model):
    """Mails about one installation. No row: none so far. Written by `extensions.services.notices`.

    `asked` holds a digest of each script, widget, hook or host that its merchant was asked for, so that a later version
    which asks for the same isn't mailed again.
    """

    installation = models.OneToOneField(
        Installation, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    asked = models.JSONField(default=list)
    is_due = models.BooleanField(default=False, help_text="Whether a mail about it is due.")
    trouble_mailed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["installation"], condition=Q(is_due=True), name="merchant_notice_due")
        ]

    def __str__(self) -> str:
        return f"Mails about {self.installation_id}"
