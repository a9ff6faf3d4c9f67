"""Stored definitions as typed objects."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from extensions.enums import EmbedKind
from extensions.models import Definition
from stores.hookpoints import HookPoint

Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    id: UUID
    block_type: str
    name: str
    description: str
    icon_name: str
    category: str
    render_url: str
    settings_schema: dict[str, Any]
    default_config: Settings


@dataclass(frozen=True, slots=True)
class Embed:
    """`url` is the `scriptUrl` or the `renderUrl`, depending on the kind. `integrity` is empty for a script that isn't
    pinned.
    """

    id: UUID
    embed_type: str
    name: str
    description: str
    kind: EmbedKind
    position: str
    url: str
    settings_schema: dict[str, Any]
    default_config: Settings
    integrity: str


@dataclass(frozen=True, slots=True)
class Hook:
    """`path` is joined to the Webhook URL; `timeout` is in milliseconds; lower priorities run first."""

    id: UUID
    point: HookPoint
    path: str
    timeout: int
    priority: int


@dataclass(frozen=True, slots=True)
class AdminPage:
    id: UUID
    page_id: str
    title: str
    icon_name: str
    render_url: str


def block(definition: Definition) -> Block:
    content = definition.content
    return Block(
        definition.id, definition.key, content["name"], content["description"], content["iconName"],
        content["category"], content["renderUrl"], content["settingsSchema"], content["defaultConfig"],
    )  # fmt: skip


def embed(definition: Definition) -> Embed:
    content = definition.content
    kind = EmbedKind(content["kind"])
    url = content["scriptUrl"] if kind == EmbedKind.GLOBAL_SCRIPT else content["renderUrl"]
    return Embed(
        definition.id, definition.key, content["name"], content["description"], kind, content["position"],
        url, content["settingsSchema"], content["defaultConfig"], content.get("integrity", ""),
    )  # fmt: skip


def hook(definition: Definition) -> Hook:
    content = definition.content
    return Hook(
        definition.id, HookPoint(definition.key), content["url"], content["timeout"], content["priority"]
    )


def admin_page(definition: Definition) -> AdminPage:
    content = definition.content
    return AdminPage(
        definition.id, definition.key, content["title"], content["iconName"], content["renderUrl"]
    )
