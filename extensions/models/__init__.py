"""What an app adds to a store, and what became of it there."""

from extensions.models.hooks import Breaker, HookCall, HookPreference
from extensions.models.manifests import ApprovedManifest, Definition, Manifest, ManifestFlag, ManifestSave
from extensions.models.stores import EmbedState, Placement

__all__ = [
    "ApprovedManifest",
    "Breaker",
    "Definition",
    "EmbedState",
    "HookCall",
    "HookPreference",
    "Manifest",
    "ManifestFlag",
    "ManifestSave",
    "Placement",
]
