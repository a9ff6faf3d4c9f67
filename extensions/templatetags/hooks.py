"""`{% load hooks %}`: what an app does at the checkout, for pages of every room."""

from django import template

from extensions.hooks import health
from installations.models import Installation

register = template.Library()


@register.filter
def works_at_checkout(installation: Installation) -> bool:
    """Whether the app has any hook."""
    return bool(health.hooks_of(installation.app))
