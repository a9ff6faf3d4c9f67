"""`{% csrf_token %}` in every template: Django's, and the stamp of the form (`common.web.forms.stamps`)."""

from typing import Any

from django import template
from django.template.defaulttags import CsrfTokenNode
from django.utils.html import format_html

from common.web.forms.stamps import FIELD, stamp_text

register = template.Library()


class StampedTokenNode(CsrfTokenNode):
    def render(self, context: Any) -> str:
        token = super().render(context)
        request = getattr(context, "request", None) or context.get("request")
        stamp = stamp_text(request) if token and request else ""
        if not stamp:
            return token
        return token + format_html('<input type="hidden" name="{}" value="{}">', FIELD, stamp)


@register.tag
def csrf_token(parser: Any, token: Any) -> StampedTokenNode:
    """Django's tag under its own name, so that no form can have the one without the other."""
    return StampedTokenNode()
