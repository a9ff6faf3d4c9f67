"""The operator's name and looks, in every template without `{% load %}`, also where there is no request."""

from django import template
from django.conf import settings

from common.files import brand

register = template.Library()


@register.simple_tag
def platform_name() -> str:
    return str(settings.PLATFORM_NAME)


@register.simple_tag
def platform_logo() -> str:
    """The path of the operator's logo; empty without one."""
    return brand.logo_path()


@register.simple_tag
def platform_sheet() -> str:
    """The path of the sheet with the operator's color; empty without one."""
    return brand.sheet_path()
