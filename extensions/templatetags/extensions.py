"""`{% load extensions %}`: what apps add to pages of the floors below."""

import json
from typing import Any

from django import template
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from accounts.models import Business
from common.templatetags.ui import app_icon, icon
from extensions import definitions
from extensions.addresses import SANDBOX, frame_url, origin_of
from extensions.block_picker import Choice, blocks_to_add
from extensions.definitions import AdminPage, Block
from extensions.enums import EmbedKind, ExtensionType
from extensions.icons import icon_or_neutral
from extensions.policy import allow_frame, allow_script
from extensions.queries import extensions_on, settings_schema_of
from extensions.storefront import PlacedBlock, StoreEmbed, blocks_on, embeds_on
from installations.models import Installation
from stores.models import SitePage

register = template.Library()


@register.simple_tag
def admin_pages_on(business: Business | None) -> list[tuple[Installation, AdminPage]]:
    """For the side navigation: every admin page of the business's apps."""
    if business is None:
        return []
    found = extensions_on(business, ExtensionType.ADMIN_PAGE)
    return [(each.installation, definitions.admin_page(each.definition)) for each in found]


@register.simple_tag
def page_icon(page: AdminPage, installation: Installation) -> SafeString:
    """The page's own icon; the app's where it names none, a neutral one where it names an unknown one."""
    if page.icon_name:
        return icon(icon_or_neutral(page.icon_name))
    fields = installation.app_fields
    shown = app_icon(fields.name, installation.app.slug, fields.icon_path, "small")
    return render_to_string("components/app_icon.html", shown)


@register.filter
def has_settings(installation: Installation) -> bool:
    """Whether the merchant of an installed app can set it up."""
    return settings_schema_of(installation.app) is not None


@register.simple_tag
def block_icon(block: Block) -> SafeString:
    return icon(icon_or_neutral(block.icon_name))


@register.inclusion_tag("extensions/add_to_page.html", takes_context=True)
def add_to_page(context: dict[str, Any], installation: Installation) -> dict[str, Any]:
    """Every block of an installed app with a button that puts it on a page of the store."""
    pages = SitePage.objects.filter(business=installation.business).order_by("-is_published", "title")
    return {
        "request": context["request"],
        "csrf_token": context.get("csrf_token"),
        "installation": installation,
        "choices": blocks_of(installation),
        "pages": pages,
    }


@register.simple_tag
def blocks_of(installation: Installation) -> list[Choice]:
    return [each for each in blocks_to_add(installation.business) if each.installation.pk == installation.pk]


@register.simple_tag
def embeds_of(installation: Installation) -> list[StoreEmbed]:
    """What an installed app puts on every page of the store, switched on or off."""
    return [each for each in embeds_on(installation.business) if each.installation.pk == installation.pk]


@register.inclusion_tag("extensions/scripts.html", takes_context=True)
def app_scripts(context: dict[str, Any], business: Business, position: str) -> dict[str, Any]:
    """The global scripts of a storefront page, `position` being head or body_end."""
    shown = [each for each in _shown(context, business) if each.embed.position == position]
    scripts = [each for each in shown if each.embed.kind == EmbedKind.GLOBAL_SCRIPT]
    for each in scripts:
        allow_script(context["request"], each.embed.url)
    return {"scripts": scripts, "business": business}


@register.inclusion_tag("extensions/widgets.html", takes_context=True)
def app_widgets(context: dict[str, Any], business: Business) -> dict[str, Any]:
    """The floating widgets of a storefront page, by their corner."""
    widgets = [each for each in _shown(context, business) if each.embed.kind == EmbedKind.FLOATING_WIDGET]
    for each in widgets:
        allow_frame(context["request"], each.embed.url)
    corners = {
        position: [each for each in widgets if each.embed.position == position]
        for position in ("bottom_left", "bottom_right")
    }
    return {"corners": corners, "business": business}


@register.inclusion_tag("extensions/blocks.html", takes_context=True)
def app_blocks(context: dict[str, Any], page: SitePage) -> dict[str, Any]:
    """The blocks of a site page, in their order."""
    blocks = blocks_on(page)
    for each in blocks:
        allow_frame(context["request"], each.block.render_url)
    return {"blocks": blocks, "business": page.business}


@register.simple_tag(takes_context=True)
def block_frame(context: dict[str, Any], placed: PlacedBlock, business: Business) -> SafeString:
    """One block in its frame."""
    allow_frame(context["request"], placed.block.render_url)
    return render_to_string("extensions/block.html", {"placed": placed, "business": business})


def _shown(context: dict[str, Any], business: Business) -> list[StoreEmbed]:
    """The embeds that are on; read once for a page, which asks in three places."""
    request: HttpRequest = context["request"]
    if not hasattr(request, "shown_embeds"):
        request.shown_embeds = [each for each in embeds_on(business) if each.is_on]  # type: ignore[attr-defined]
    shown: list[StoreEmbed] = request.shown_embeds  # type: ignore[attr-defined]
    return shown


@register.filter
def as_json(value: object) -> str:
    """JSON for an attribute, which the template escapes."""
    return json.dumps(value, ensure_ascii=False)


@register.filter
def framed_on(render_url: str, business: Business) -> str:
    """The address of an app's iframe on a store."""
    return frame_url(render_url, business)


@register.filter
def origin(url: str) -> str:
    return origin_of(url)


@register.simple_tag
def frame_sandbox() -> str:
    return SANDBOX
