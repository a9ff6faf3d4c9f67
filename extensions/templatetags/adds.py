"""What an app adds to a store, for pages of the floors below: `{% load adds %}`."""

from django import template

from extensions import adds
from extensions.enums import ExtensionType
from installations.models import Installation
from marketplace.models import App

register = template.Library()

ICONS = {
    ExtensionType.BLOCK: "blocks",
    ExtensionType.EMBED: "layout-grid",
    ExtensionType.HOOK: "shopping-cart",
    ExtensionType.ADMIN_PAGE: "layout-dashboard",
}


@register.simple_tag
def app_adds(app: App) -> list[adds.Added]:
    return adds.adds(app)


@register.simple_tag
def placed_blocks(installation: Installation) -> adds.Placed:
    return adds.placed(installation)


@register.filter
def icon_of_extension(added: adds.Added) -> str:
    return ICONS[added.type]
