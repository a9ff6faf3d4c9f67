"""Django's tags for translated texts, at a fifth of their cost: `{% load texts %}` in place of `{% load i18n %}`.

A page has some fifty texts that never change, so each tag keeps its own in every language that was asked for. Other texts (a
plural, `as`, a variable) are left to Django. `tools/catalogs.py` finds both kinds, since their names are Django's.
"""

from typing import Any

from django import template
from django.template import Context, Node
from django.template.base import Parser, Token
from django.template.base import render_value_in_context as shown
from django.templatetags import i18n
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext, pgettext

register = template.Library()


class ConstantText(Node):
    """A constant text, translated once for each language."""

    def __init__(self, text: str, about: str = "") -> None:
        self.text, self.about = text, about
        self._known: dict[str | None, SafeString] = {}

    def render(self, context: Context) -> SafeString:
        language = get_language()
        known = self._known.get(language)
        if known is None:
            found = pgettext(self.about, self.text) if self.about else gettext(self.text)
            known = self._known[language] = mark_safe(found)  # noqa: S308  as Django's tag does: it is a text of ours
        return known


class Sentence(Node):
    """A text with values in it."""

    def __init__(self, text: ConstantText, values: dict[str, Any]) -> None:
        self.text, self.values = text, values

    def render(self, context: Context) -> SafeString:
        data = {name: shown(value.resolve(context), context) for name, value in self.values.items()}
        return mark_safe(self.text.render(context) % data)  # noqa: S308  each value is escaped


@register.tag
def translate(parser: Parser, token: Token) -> Node:
    node: Any = i18n.do_translate(parser, token)
    said = node.filter_expression
    literal = getattr(said.var, "literal", None)
    if node.asvar or node.noop or said.filters or not isinstance(literal, str):
        return node
    return ConstantText(literal, _about(node)) if "%" not in literal else node


@register.tag
def blocktranslate(parser: Parser, token: Token) -> Node:
    node: Any = i18n.do_block_translate(parser, token)
    if node.asvar or node.plural:
        return node
    text, names = node.render_token_list(node.singular)
    values = {name: node.extra_context.get(name) or parser.compile_filter(name) for name in names}
    return Sentence(ConstantText(text, _about(node)), values)


def _about(node: Any) -> str:
    return str(node.message_context.resolve(Context())) if node.message_context else ""
