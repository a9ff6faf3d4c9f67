"""Manifests, definitions, placements, embed states and hook calls."""

from extensions.models.hooks import Breaker, CountedCalls, HookCall, HookPreference, RelayedCall
from extensions.models.manifests import (
    ApprovedManifest,
    Definition,
    LiveDefinition,
    Manifest,
    ManifestSave,
    ReachRequest,
)
from extensions.models.scripts import ScriptChange, WatchedScript
from extensions.models.shops import ShopCommand
from extensions.models.stores import ExtensionState, MerchantNotice, Placement, StorefrontCost
