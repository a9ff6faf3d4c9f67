"""The sample app's manifest, as a newcomer saves it on the platform."""

from __future__ import annotations

import json
from typing import Any

import pytest

from examples.sample_app.hooks import Rules
from examples.sample_app.manifest import WRITTEN_FOR, manifest
from extensions.enums import EmbedKind
from extensions.manifest import problems_of_manifest
from extensions.queries import defaults_of
from stores.hookpoints import HookPoint


@pytest.mark.spec(
    "Contract 6 Extensions", "The sample app's manifest is a valid one and has every kind of extension"
)
@pytest.mark.parametrize("address", [WRITTEN_FOR, "http://127.0.0.1:8001"])
def test_manifest_is_valid_and_has_every_kind_of_extension(address: str, settings: Any) -> None:
    settings.DEBUG = True  # which lets http lead to this machine
    document = manifest(address)
    assert problems_of_manifest(document) == []
    assert {hook["hookPoint"] for hook in document["hooks"]} == set(HookPoint)
    assert {embed["kind"] for embed in document["embeds"]} == set(EmbedKind)
    assert document["blocks"]
    assert document["adminPages"]
    assert (WRITTEN_FOR in json.dumps(document)) == (address == WRITTEN_FOR)


def test_rules_for_want_of_settings_are_the_schemas_defaults() -> None:
    defaults = defaults_of(manifest(WRITTEN_FOR)["settingsSchema"])
    assert Rules.of(defaults) == Rules() == Rules.of({})


@pytest.mark.parametrize("odd", [None, "12", True, [], {}])
def test_odd_settings_leave_the_defaults(odd: object) -> None:
    names = manifest(WRITTEN_FOR)["settingsSchema"]["properties"]
    assert Rules.of(dict.fromkeys(names, odd)) == Rules()
