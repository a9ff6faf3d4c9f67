"""Reading what apps add to a store."""

from typing import Any

from extensions.models import Manifest
from marketplace.models import App


def manifest_document(app: App) -> dict[str, Any]:
    """The manifest as it was saved, `{}` before the first save (contract section 9, "Manifest")."""
    document = Manifest.objects.filter(app=app).values_list("document", flat=True).first()
    return document or {}
