"""What a store has of an app's extensions: the merchant's choices (blocks on pages, parts that are switched off), what apps cost the visitors, and
what the merchant was mailed.
"""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from common.ids import new_id
from extensions.models.manifests import Definition
from installations.models import Installation
from stores.models import SitePage


class Placement(models.Model):
    """A block on a site page. Written by `extensions.services.extension_states`, and deleted with the installation.

    `settings` are the merchant's values; the definition's defaults apply below them. While its definition is inactive it
    is kept but not shown.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="+")
    definition = models.ForeignKey(Definition, on_delete=models.CASCADE, related_name="+")
    page = models.ForeignKey(SitePage, on_delete=models.CASCADE, related_name="+", db_index=False)
    position = models.PositiveIntegerField(help_text="Its position among the page's blocks.")
    settings = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["page", "position", "id"]
        indexes = [models.Index(fields=["page", "position"], name="placement_on_page")]

    def __str__(self) -> str:
        return f"{self.definition} on {self.page}"


class ExtensionState(models.Model):
    """A merchant's choice for a hook, script or widget. Without a row it is on, with its defaults.

    `settings` are the values of an embed's `settingsSchema`. Written by `extensions.services.extension_states`, and
    deleted with the installation.
    """

    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="+", db_index=False)
    definition = models.ForeignKey(Definition, on_delete=models.CASCADE, related_name="+")
    is_on = models.BooleanField(default=True)
    settings = models.JSONField(default=dict, blank=True)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["installation", "definition"], name="one_state_of_an_extension")
        ]

    def __str__(self) -> str:
        return f"{self.definition} is {'on' if self.is_on else 'off'}"


class StorefrontCost(models.Model):
    """What an app added to a store's pages on one UTC day, as measured in shoppers' browsers.

    The columns are sums over `visits`, page views that were measured. `unshared` counts those in which the app didn't let
    pages read the size of everything that it loads. Written by `extensions.services.costs`; kept for 30 days, and deleted
    with the installation.
    """

    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField(db_index=True)
    visits = models.PositiveIntegerField(default=0)
    unshared = models.PositiveIntegerField(default=0)
    milliseconds = models.PositiveBigIntegerField(default=0)
    bytes = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["installation", "day"], name="one_cost_of_a_day")]

    def __str__(self) -> str:
        return f"{self.installation_id} on {self.day}: {self.visits} visits"


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
