"""What manifests do when the marketplace tells of something. Connected by `ExtensionsConfig.ready`."""

from typing import Any

from django.dispatch import receiver

from extensions.services.manifests import keep_approved
from marketplace.models import AppVersion
from marketplace.signals import app_approved


@receiver(app_approved, dispatch_uid="extensions.manifest.approved")
def freeze_manifest(version: AppVersion, **kwargs: Any) -> None:
    keep_approved(version=version)
