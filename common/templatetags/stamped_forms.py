"""In every template: `{% csrf_token %}`, Django's and the stamp of the form (`common.web.forms.stamps`), and `{% form_token %}`, for a
button that adds something and has no form class (`common.web.forms.pages`).

A form is good for one address, so one that goes to another than its page's own names that a second time, as `{% url %}` takes it:

    <form method="post" action="{% url 'portal:delivery_resend' app.slug delivery.id %}">{% csrf_token 'portal:delivery_resend' app.slug delivery.id %}
    <form method="post" action="{{ here }}">{% csrf_token to=here %}
"""

from collections.abc import Callable
from html import unescape
from typing import Any

from django import template
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.template.base import FilterExpression, Node, Parser, Token
from django.template.defaulttags import CsrfTokenNode
from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.templatetags.links import url
from common.web.forms import pages
from common.web.forms.stamps import FIELD, stamp_text

register = template.Library()


class StampedTokenNode(CsrfTokenNode):
    def __init__(self, action: Node | FilterExpression | None) -> None:
        self.action = action

    def render(self, context: Any) -> str:
        token = super().render(context)
        request = getattr(context, "request", None) or context.get("request")
        return token + _stamp(request, self._action(context)) if token and request else token

    def _action(self, context: Any) -> str:
        if isinstance(self.action, FilterExpression):
            return str(self.action.resolve(context))
        return unescape(self.action.render(context)) if self.action else ""


def tokens_of_forms(request: HttpRequest) -> Callable[[str], SafeString]:
    """`{% csrf_token to=… %}` for the rows of a list, each with a form to another address."""
    token = format_html('<input type="hidden" name="csrfmiddlewaretoken" value="{}">', get_token(request))
    return lambda action: token + _stamp(request, action)


def _stamp(request: HttpRequest, action: str) -> SafeString:
    stamp = stamp_text(request, action)
    return format_html('<input type="hidden" name="{}" value="{}">', FIELD, stamp) if stamp else SafeString()


@register.tag
def csrf_token(parser: Parser, token: Token) -> StampedTokenNode:
    """Django's tag under its own name, so that no form can have the one without the other."""
    _, *bits = token.split_contents()
    if len(bits) == 1 and bits[0].startswith("to="):
        return StampedTokenNode(parser.compile_filter(bits[0].removeprefix("to=")))
    return StampedTokenNode(url(parser, token) if bits else None)


@register.simple_tag
def form_token() -> SafeString:
    return format_html('<input type="hidden" name="{}" value="{}">', pages.FORM_FIELD, pages.new_token())
