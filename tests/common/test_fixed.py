"""Parts of pages that are written once for their values (`common.templatetags.fixed`)."""

from typing import Any

import pytest
from django.template import Context, Engine
from django.utils import timezone
from django.utils.safestring import mark_safe

PARTS = {
    "hello.html": "<b>{{ name }}</b>{{ secret }}{% if others %}{% for each in others %} {{ each }}{% endfor %}{% endif %}",
    "form.html": "{% load fixed %}<p>{{ name }}</p>{% each_time %}{{ token }}, {{ name }}{% endeach_time %}<hr>"
    "{% if name == 'Ada' %}{% each_time %}{{ token }}!{% endeach_time %}{% endif %}",
    "zone.html": "{% load tz %}{% get_current_timezone as zone %}{{ zone }}",
}


def render(text: str, **values: Any) -> str:
    engine = Engine(
        loaders=[
            ("django.template.loaders.cached.Loader", [("django.template.loaders.locmem.Loader", PARTS)])
        ],
        libraries={"fixed": "common.templatetags.fixed", "tz": "django.templatetags.tz"},
    )
    return engine.from_string("{% load fixed %}" + text).render(Context(values))


HELLO = '{% fixed "hello.html" with name=person others=others %}'


def test_part_says_what_it_is_given_and_nothing_else_of_the_page() -> None:
    """So what is kept for one person can't be another's."""
    assert render(HELLO, person="Ada", secret="Ada's") == "<b>Ada</b>"
    assert render(HELLO, person="Bob", secret="Bob's", others=["Cy", "Di"]) == "<b>Bob</b> Cy Di"


def test_text_that_somebody_typed_is_escaped_after_one_that_is_safe() -> None:
    assert render(HELLO, person=mark_safe("<i>"), others=[mark_safe("<u>")]) == "<b>&lt;i&gt;</b> &lt;u&gt;"
    assert render(HELLO, person="<i>", others=["<u>"]) == "<b>&lt;i&gt;</b> &lt;u&gt;"


def test_numbers_and_flags_that_are_equal_are_others() -> None:
    assert [render(HELLO, person=each) for each in (1, True, "1")] == ["<b>1</b>", "<b>True</b>", "<b>1</b>"]


@pytest.mark.parametrize("value", [{"name": "Ada"}, object(), [object()], lambda: object()])
def test_what_may_say_something_else_another_time_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="takes texts, numbers and lists"):
        render(HELLO, person=value)


def test_what_is_marked_is_written_at_each_request() -> None:
    text = '{% fixed "form.html" with name=person %}'
    for token in ("one", "two"):
        assert render(text, person="Ada", token=token) == f"<p>Ada</p>{token}, Ada<hr>{token}!"
        assert render(text, person="Bob", token=token) == f"<p>Bob</p>{token}, Bob<hr>"


def test_part_follows_the_zone_of_the_page() -> None:
    for zone in ("Europe/Berlin", "UTC"):
        with timezone.override(zone):
            assert render('{% fixed "zone.html" %}') == zone
