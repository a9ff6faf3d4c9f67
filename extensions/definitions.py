"""Stored definitions as typed objects, with the URLs of iframes and hooks. A manifest may name any icon (contract, section 9, "Manifest");
unknown ones show a neutral one.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

from django.contrib.staticfiles import finders

from accounts.models import Business
from common.http.url_policy import with_parameters
from common.templatetags.ui import SPRITE
from extensions.enums import EmbedKind
from extensions.models import Definition
from stores.hookpoints import HookPoint

Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    id: UUID
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
        definition.id, content["name"], content["description"], content["iconName"], content["category"],
        content["renderUrl"], content["settingsSchema"], content["defaultConfig"],
    )  # fmt: skip


def embed(definition: Definition) -> Embed:
    content = definition.content
    kind = EmbedKind(content["kind"])
    url = content["scriptUrl"] if kind == EmbedKind.GLOBAL_SCRIPT else content["renderUrl"]
    return Embed(
        definition.id, content["name"], content["description"], kind, content["position"], url,
        content["settingsSchema"], content["defaultConfig"], content.get("integrity", ""),
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


SANDBOX = "allow-scripts allow-same-origin allow-forms allow-popups"
"""The sandbox attributes of every app's iframe (specification, "Admin page iframe contract"; contract, section 6, "Host pages")."""


def frame_url(render_url: str, business: Business, locale: str = "") -> str:
    """An iframe's URL: the app's, with `businessId` and `locale` added to its query, by default that of the store."""
    return with_parameters(
        render_url, [("businessId", str(business.pk)), ("locale", locale or business.locale)]
    )


def hook_address(webhook_url: str, path: str) -> str:
    """A hook's URL: the Webhook URL and the hook's path, with exactly one slash between (contract, section 9)."""
    parts = urlsplit(webhook_url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path.lstrip('/')}"))


NEUTRAL = "puzzle"


@lru_cache(maxsize=1)
def known_icons() -> frozenset[str]:
    """The names of the symbols in the icon sprite."""
    path = finders.find(SPRITE)
    assert isinstance(path, str), SPRITE
    with open(path, encoding="utf-8") as sprite:
        return frozenset(re.findall(r'<symbol[^>]* id="([^"]+)"', sprite.read()))


def icon_or_neutral(name: str) -> str:
    return name if name in known_icons() else NEUTRAL
