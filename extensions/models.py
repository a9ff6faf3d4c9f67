"""What an app adds to a store."""

from django.db import models
from django.utils import timezone

from marketplace.models import App


class Manifest(models.Model):
    """The extension definitions of an app, as the developer saved them. No row before the first save."""

    app = models.OneToOneField(App, on_delete=models.CASCADE, primary_key=True, related_name="+")
    document = models.JSONField(default=dict)
    saved_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"Manifest of {self.app_id}"
