"""Markdown that developers enter: what becomes of it on a page."""

import pytest

from common.templatetags.text import render


def test_formatting_becomes_html_below_the_sections_of_a_page() -> None:
    html = render("# Stars\n\n**Ten** stars, *one* coffee.\n\n- a\n- b\n\n##### More\n\n`code`")
    assert html.count("<h3>") == 2
    for part in ("<strong>Ten</strong>", "<em>one</em>", "<li>a</li>", "<code>code</code>"):
        assert part in html


def test_links_pass_on_neither_rank_nor_window() -> None:
    html = render("[site](https://stars.example.com/) <help@stars.example.com>")
    assert '<a href="https://stars.example.com/" rel="noopener nofollow">site</a>' in html
    assert 'href="mailto:help@stars.example.com"' in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<b onclick=alert(1)>bold</b>",
        "[press](javascript:alert(1))",
        "[press](data:text/html,x)",
        "[press](/accounts/logout/)",
        "[press](//evil.example.com)",
        "![picture](https://evil.example.com/pixel.png)",
    ],
)
def test_nothing_else_gets_through(text: str) -> None:
    html = render(text)
    for part in ("<script", "<b", "<img", 'href="javascript', 'href="data', 'href="/'):
        assert part not in html
