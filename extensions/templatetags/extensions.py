"""Frames of apps: `{% load extensions %}`."""

import json
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from accounts.models import Business
from common.http.url_policy import origin_of
from common.templatetags.ui import icon
from common.web.middleware.policy import allow_frame
from extensions.definitions import SANDBOX, Block, frame_url, icon_or_neutral
from extensions.in_store.embeds_and_blocks import PlacedBlock

register = template.Library()


@register.simple_tag
def block_icon(block: Block) -> SafeString:
    return icon(icon_or_neutral(block.icon_name))


@register.simple_tag(takes_context=True)
def block_frame(
    context: dict[str, Any], placed: PlacedBlock, business: Business, *, waits: bool = False
) -> SafeString:
    """One block in its frame. One that `waits` loads when it comes into view."""
    allow_frame(context["request"], placed.block.render_url)
    return render_to_string("extensions/block.html", {"placed": placed, "business": business, "waits": waits})


@register.filter
def as_json(value: object) -> str:
    """JSON for an HTML attribute; the template escapes it."""
    return json.dumps(value, ensure_ascii=False)


@register.filter
def framed_on(render_url: str, business: Business) -> str:
    """The URL of an app's iframe on a store."""
    return frame_url(render_url, business)


@register.filter
def origin(url: str) -> str:
    return origin_of(url)


@register.simple_tag
def frame_sandbox() -> str:
    return SANDBOX
