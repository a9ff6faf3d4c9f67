"""Manifests, definitions, placements, embed states and hook calls."""

from extensions.models.hooks import Breaker, HookCall, HookPreference
from extensions.models.manifests import (
    ApprovedManifest,
    Definition,
    LiveDefinition,
    Manifest,
    ManifestSave,
    ReachRequest,
)
from extensions.models.stores import ExtensionState, Placement

__all__ = [
    "ApprovedManifest",
    "Breaker",
    "Definition",
    "ExtensionState",
    "HookCall",
    "HookPreference",
    "LiveDefinition",
    "Manifest",
    "ManifestSave",
    "Placement",
    "ReachRequest",
]
