"""In every template: `{% url %}`, Django's with its addresses kept. A page has twenty to a hundred of them, most the same on every
page, and to find one takes Django a hundred calls. Each namespace is there once, so that of the request doesn't matter.
"""

from functools import lru_cache
from typing import Any, Final
from uuid import UUID, uuid4

from django import template
from django.conf import settings
from django.template.base import Parser, Token
from django.template.defaulttags import URLNode
from django.template.defaulttags import url as djangos
from django.urls import NoReverseMatch, get_script_prefix, get_urlconf, reverse
from django.utils.html import conditional_escape

register = template.Library()
KEPT: Final = 4_000  # some 1 MB
# In place of ids, which are others in each row of a list. Random, so that no other part of an address reads so.
STAND_INS: Final = [uuid4() for _ in range(4)]


def address(name: str, *arguments: Any) -> str:
    """`reverse(name, args=arguments)`. Raises `NoReverseMatch`."""
    ids = [each for each in arguments if each.__class__ is UUID]
    if ids:
        stand_ins = iter(STAND_INS)
        arguments = tuple([next(stand_ins) if each.__class__ is UUID else each for each in arguments])
    path = _address(name, arguments, get_urlconf() or settings.ROOT_URLCONF, get_script_prefix())
    for stand_in, each in zip(STAND_INS, ids, strict=False):
        path = path.replace(str(stand_in), str(each))
    return path


@lru_cache(maxsize=KEPT)
def _address(name: str, arguments: tuple[Any, ...], routes: str, prefix: str) -> str:
    return reverse(name, routes, arguments)


class KeptUrlNode(URLNode):
    def render(self, context: Any) -> str:
        if self.kwargs:
            return str(super().render(context))
        try:
            path = address(self.view_name.resolve(context), *[each.resolve(context) for each in self.args])
        except NoReverseMatch:
            if self.asvar is None:
                raise
            path = ""
        if self.asvar is None:
            return conditional_escape(path) if context.autoescape else path
        context[self.asvar] = path
        return ""


@register.tag
def url(parser: Parser, token: Token) -> URLNode:
    node = djangos(parser, token)
    return KeptUrlNode(node.view_name, node.args, node.kwargs, node.asvar)
