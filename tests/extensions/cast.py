"""Definitions of apps as a saved manifest leaves them, for tests that are not about the manifest."""

from typing import Any

from extensions.enums import ExtensionType
from extensions.models import Definition
from marketplace.models import App
from tests import factories

DEFAULTS: dict[ExtensionType, dict[str, Any]] = {
    ExtensionType.BLOCK: {
        "name": "Stars",
        "description": "What customers think.",
        "iconName": "star",
        "category": "Reviews",
        "renderUrl": "https://app.example.com/block",
        "settingsSchema": {"type": "object"},
        "defaultConfig": {},
    },
    ExtensionType.EMBED: {
        "name": "Chat",
        "description": "Ask the shop.",
        "kind": "FLOATING_WIDGET",
        "position": "bottom_right",
        "renderUrl": "https://app.example.com/widget",
        "settingsSchema": {"type": "object"},
        "defaultConfig": {},
    },
    ExtensionType.HOOK: {"url": "hooks", "timeout": 5000, "priority": 100},
    ExtensionType.ADMIN_PAGE: {
        "title": "Summary",
        "iconName": "",
        "renderUrl": "https://app.example.com/admin",
    },
}


def define(app: App, kind: ExtensionType, key: str, /, **content: Any) -> Definition:
    """An active definition that runs in stores; `content` are fields of the manifest by their names there."""
    return factories.definition(app, kind, key, {**DEFAULTS[kind], **content})
