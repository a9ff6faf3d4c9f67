"""`{% load fixed %}`: a part of a page that says the same whenever its values are the same, such as the bar at the top.

    {% fixed "components/footer.html" with note=footer_note links=footer_links %}

is `{% include … only %}`, rendered once for each combination of values in a process; `name` alone is short for `name=name`. The part has these
values and nothing else of the page: no request and no person. So no person sees what it says to another. Values are texts, numbers and lists
of them. Parts of it that differ at each request, such as the token of a form, are between `{% each_time %}` and `{% endeach_time %}`, and have
the page's own context.
"""

from functools import lru_cache
from typing import Any, Final
from uuid import uuid4

from django import template
from django.template import Context, Node, TemplateSyntaxError
from django.template.base import FilterExpression, NodeList, Parser, Template, Token, token_kwargs
from django.urls import get_script_prefix, get_urlconf
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import get_language

register = template.Library()
KEPT: Final = 1_000  # parts, of some 2 kB
MARK: Final = str(
    uuid4()
)  # where something else is at each request. Random, so that no text of a page reads so
NODES: Final = ":nodes"  # no name of a variable


class FixedNode(Node):
    def __init__(self, part: FilterExpression, values: dict[str, FilterExpression]) -> None:
        self.part, self.names, self.values = part, tuple(values), tuple(values.values())

    def render(self, context: Context) -> SafeString:
        assert context.template
        part = context.template.engine.get_template(self.part.resolve(context))
        values = tuple([_plain(each.resolve(context)) for each in self.values])
        # A template that is edited is another one then.
        texts, nodes = _written(
            part,
            self.names,
            get_language(),
            get_urlconf(),
            get_script_prefix(),
            timezone.get_current_timezone(),
            *values,
        )
        if not nodes:
            return texts[0]
        with context.push(**dict(zip(self.names, values, strict=True))):
            rest = [f"{node.render(context)}{text}" for node, text in zip(nodes, texts[1:], strict=True)]
        return SafeString("".join([texts[0], *rest]))


def _plain(value: Any) -> Any:
    """Raises `TypeError` for what may say something else another time, such as a person."""
    if type(value) is str:
        return value
    if isinstance(value, str):
        return value[:]  # so that one that is safe isn't taken for one that somebody typed
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, list | tuple):
        return tuple([_plain(each) for each in value])
    raise TypeError(f"{{% fixed %}} takes texts, numbers and lists of them, not {value!r}.")


@lru_cache(maxsize=KEPT, typed=True)
def _written(part: Template, names: tuple[str, ...], *given: Any) -> tuple[list[SafeString], list[NodeList]]:
    """The texts of the part, and what is between them."""
    nodes: list[NodeList] = []
    values = dict(zip(names, given[len(given) - len(names) :], strict=True))
    text = part.render(Context({**values, NODES: nodes}))
    return [SafeString(each) for each in text.split(MARK)], nodes


forget = _written.cache_clear


class EachTimeNode(Node):
    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> SafeString:
        nodes: list[NodeList] | None = context.get(NODES)
        if nodes is None:
            return self.nodelist.render(context)
        nodes.append(self.nodelist)
        return SafeString(MARK)


@register.tag
def fixed(parser: Parser, token: Token) -> FixedNode:
    _, part, *bits = token.split_contents()
    named = [each if "=" in each else f"{each}={each}" for each in bits[1:]]
    values = token_kwargs(named, parser)
    if bits and (bits[0] != "with" or named or not values):
        raise TemplateSyntaxError(
            '{% fixed "part.html" with name=value … %} has the name of a template, and values.'
        )
    return FixedNode(parser.compile_filter(part), values)


@register.tag
def each_time(parser: Parser, token: Token) -> EachTimeNode:
    nodelist = parser.parse(["endeach_time"])
    parser.delete_first_token()
    return EachTimeNode(nodelist)
