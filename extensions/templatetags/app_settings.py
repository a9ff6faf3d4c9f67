"""`{% load app_settings %}`: whether an installed app has settings, for the pages about it."""

from django import template

from extensions.queries import settings_schema_of
from installations.models import Installation

register = template.Library()


@register.filter
def has_settings(installation: Installation) -> bool:
    return settings_schema_of(installation.app) is not None
