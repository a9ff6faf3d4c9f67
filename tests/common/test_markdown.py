"""Markdown that developers enter: what becomes of it on a page."""

import pytest

from common.text.markdown import render


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


@pytest.mark.spec("Contract 15 Doors", "a line stays a line, a number at its start stays that number")
@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("24. December: closed\n2. January: open", "<p>24. December: closed<br>\n2. January: open</p>"),
        ("+ 49 30 1234567", "<p>+ 49 30 1234567</p>"),
        ("Mon 9-17\n    Sat 9-12", "<p>Mon 9-17<br>\nSat 9-12</p>"),
        ("Open:\n\n    Mon 9-17", "<p>Open:</p>\n<p>Mon 9-17</p>"),
        ("1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>"),
        ("1. a\n24. b\n25. c", '<ol>\n<li>a</li>\n<li value="24">b</li>\n<li>c</li>\n</ol>'),
        ("- a\n  24. b\n+ c", "<ul>\n<li>a<br>\n24. b</li>\n</ul>\n<p>+ c</p>"),
        ("- a\n    - b", "<ul>\n<li>a\n<ul>\n<li>b</li>\n</ul>\n</li>\n</ul>"),
    ],
)
def test_text_stays_as_it_was_typed(text: str, html: str) -> None:
    assert render(text).strip() == html
