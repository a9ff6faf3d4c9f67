"""Reading what apps add to a store."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from extensions.models import Manifest
from marketplace.models import App


def manifest_document(app: App) -> dict[str, Any]:
    """The manifest as it was saved, `{}` before the first save (contract section 9, "Manifest")."""
    document = Manifest.objects.filter(app=app).values_list("document", flat=True).first()
    return document or {}


def manifest_documents(apps: Iterable[App]) -> dict[UUID, dict[str, Any]]:
    """The manifests of several apps by app id; those never saved are left out."""
    return dict(Manifest.objects.filter(app__in=apps).values_list("app_id", "document"))
