"""Merchants' choices about an app's extensions: blocks on pages, and parts that are switched off."""

from django.db import models
from django.utils import timezone

from common.ids import new_id
from extensions.models.manifests import Definition
from installations.models import Installation
from stores.models import SitePage


class Placement(models.Model):
    """A block on a site page. Written by `extensions.services.placements`, and deleted with the installation.

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
