"""`{% load extensions %}`: what apps add to pages of the floors below."""

import json

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from accounts.models import Business
from common.templatetags.ui import app_icon, icon
from extensions import definitions
from extensions.definitions import AdminPage
from extensions.enums import ExtensionType
from extensions.icons import icon_or_neutral
from extensions.queries import extensions_on, settings_schema_of
from extensions.storefront import SANDBOX, StoreEmbed, embeds_on, frame_url, origin_of
from installations.models import Installation

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
def embeds_of(installation: Installation) -> list[StoreEmbed]:
    """What an installed app puts on every page of the store, switched on or off."""
    return [each for each in embeds_on(installation.business) if each.installation.pk == installation.pk]


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
