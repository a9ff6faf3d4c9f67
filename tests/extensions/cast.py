"""Definitions of apps as a saved manifest leaves them, for tests that are not about the manifest."""

from typing import Any

from extensions.enums import ExtensionType
from extensions.models import Definition
from marketplace.models import App

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
    """An active definition; `content` are fields of the manifest by their names there."""
    position = Definition.objects.filter(app=app, type=kind).count()
    return Definition.objects.create(
        app=app, type=kind, key=key, position=position, content={**DEFAULTS[kind], **content}
    )
