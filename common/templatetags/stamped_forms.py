"""In every template: `{% csrf_token %}`, Django's and the stamp of the form (`common.web.forms.stamps`), and `{% form_token %}`, for a
button that adds something and has no form class (`common.web.forms.one_time`).
"""

from typing import Any

from django import template
from django.template.defaulttags import CsrfTokenNode
from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.web.forms import one_time
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


@register.simple_tag
def form_token() -> SafeString:
    return format_html('<input type="hidden" name="{}" value="{}">', one_time.FIELD, one_time.new_token())
