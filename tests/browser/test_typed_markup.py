"""No markup in a text makes an element in the page editor, but what the editor draws itself, and a button that gets into a form all the
same sends it nowhere (contract, section 15).

Without the site's Content-Security-Policy, which would hide what it doesn't stop, and with the scripts that pages have.
"""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Page, expect

from accounts.models import Business, Staff, User
from stores.services.pages import create_page

from .conftest import NewPage, SignIn

EDITOR: Final = settings.BASE_DIR / "static/vendor/tiny-markdown-editor-0.2.34/tiny-mde.tiny.js"
FORM: Final = """
  <form id="open"><label for="text">Text</label><textarea id="text" data-text-editor="/picture/"></textarea></form>
"""

# The `@` is each place where a construct of Markdown has text of its own.
CONSTRUCTS: Final = (
    "@", "# @ #", "## @", "### @", "#### @", "##### @", "###### @", "@\n===", "@\n---", "> @", "> a\n> @\nb @", ">@",
    "```@\n@\n```@", "~~~@\n@\n~~~@", "    @", "\t@", "* @", "- @\n  @", "+ @", "1. @", "2) @\n\n3) @", "- [ ] @", "1. [x] @",
    "[@]: @ '@'", "[a]: <@> \"@\"", "[a]: /b (@)", "[@]", "![@]", "[@][]", "![@][]", "[a][@]", "![a][@]", "[@][@]",
    "[a][  @  ]\n\n[@]: /b", "[@](@)", "[@](<@>)", "[@](/a '@')", "[@](/a \"@\")", "[@](/a (@))", "![@](@)", "![@](/a \"@\")",
    "*@*", "_@_", "**@**", "__@__", "***@***", "**a *@* b**", "~~@~~", "`@`", "``@``", "<https://@>", "<a@@.example>",
    "https://a.example/@", "www.a.example/@", "a@a.example@", "\\@", "<b>@</b>", "<!-- @ -->", "<?@?>", "<!A @>", "<![CDATA[@]]>",
    "<pre>\n@\n</pre>", "<script>\n@\n</script>", "<div>\n@\n", "***\n@", "a  \n@", "| @ | b |\n| - | - |\n| a | @ |",
    "[![@][@]](@)", "[a [@][@] b][@]", "*[a][@]*", "> [a][@]", "- [a][@]\n@", "# [a][@]", "[a\n][@\n]", "\n\n@\n\n@",
)  # fmt: skip
MARKUP: Final = (
    "<button formaction=/elsewhere/>Save</button>", "<img src=x onerror=planted()>", "<b>", "</span><b>", "</div><b>x",
    "\"><b x=\"", "'><b x='", "&lt;b&gt;", "&#60;b&#62;", "<b\n>x</b\n>", "<!--><b>", "<svg/onload=planted()>", "\\<b\\>", "$1$$2<b>",
    "<meta http-equiv=refresh content=0>", "<iframe srcdoc=x>", "<input name=email>", "[<b>", "<b>]", "`<b>", "*<b>*_<b>_",
)  # fmt: skip

DRAWN: Final = """texts => {
  const box = document.querySelector(".TinyMDE");
  const own = new Set(["DIV", "SPAN", "BR", "STRONG", "EM", "DEL", "CODE"]);
  const attributes = new Set(["class", "data-line-num", "data-ml-sig"]);
  const found = [];
  for (const [text, way] of texts) {
    globalThis[way](text);
    for (const element of box.querySelectorAll("*")) {
      const isOwn = own.has(element.tagName) && [...element.attributes].every(({ name }) => attributes.has(name));
      const named = [...element.classList].every((name) => name.startsWith("TM"));
      if (!isOwn || !named) found.push([way, text, element.outerHTML]);
    }
    const lines = [...box.children].map((line) => line.textContent).join("\\n");
    const kept = document.getElementById("text").value;
    if (lines.trimEnd() !== kept.trimEnd()) found.push([way, text, `shows ${lines}, keeps ${kept}`]);
  }
  return found.slice(0, 10);
}"""
WAYS: Final = """() => {
  const box = document.querySelector(".TinyMDE");
  const empty = () => {
    box.focus();
    getSelection().selectAllChildren(box);
    document.execCommand("delete");
  };
  globalThis.planted = () => { throw new Error("a planted script ran"); };
  globalThis.pasted = (text) => {
    getSelection().selectAllChildren(box);
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    clipboardData.setData("text/html", text);
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  };
  globalThis.typed = (text) => {
    empty();
    for (const [number, line] of text.split("\\n").entries()) {
      if (number) document.execCommand("insertParagraph");
      document.execCommand("insertText", false, line);
    }
  };
}"""


@pytest.fixture
def blank(chromium: Browser) -> Iterator[Page]:
    """A page of no site, so without a policy. A script that runs there or fails is an error of the test."""
    context = chromium.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []


def show(page: Page, text: str) -> None:
    """The form of a page with this text, with the editor as its script sets it up."""
    page.set_content(FORM)
    page.locator("textarea").evaluate("(area, text) => { area.value = area.defaultValue = text }", text)
    page.add_script_tag(path=EDITOR)
    script = (settings.BASE_DIR / "static/js/text_editor.js").read_text()
    page.add_script_tag(content=script, type="module")
    page.locator(".TinyMDE").wait_for()
    page.evaluate(WAYS)


def texts() -> list[str]:
    return [construct.replace("@", markup) for construct in CONSTRUCTS for markup in MARKUP]


@pytest.mark.parametrize("way", ["pasted", "typed"])
def test_markup_that_is_entered_stays_text(blank: Page, way: str) -> None:
    show(blank, "")
    entered = texts() if way == "pasted" else texts()[::7]  # each typed line is drawn again and again
    assert blank.evaluate(DRAWN, [[text, way] for text in entered]) == []


def test_markup_that_is_loaded_stays_text(blank: Page) -> None:
    """All of it in one page's text, since another person's text is there when the page opens."""
    loaded = "\n\n".join(texts())
    show(blank, loaded)
    found: Any = blank.evaluate(DRAWN.replace("globalThis[way](text);", ""), [[loaded[:50], "loaded"]])
    assert found == []


PLANTED = (
    "<input type=hidden name=email value=evil@example.com><input type=hidden name=role value=MANAGER>"
    '<button type=submit formaction="{}">Planted</button>'
)


@pytest.mark.parametrize("path", ["/merchant/staff/", "/accounts/profile/email/"])
@pytest.mark.spec("Contract 15 Doors", "a form's stamp is good for its own address only")
def test_button_that_is_planted_in_a_form_does_nothing(
    new_page: NewPage, sign_in: SignIn, mira: User, shop: Business, path: str, mailoutbox: list[Any]
) -> None:
    """Wherever it came from: the policy of the page is off, and the button is in its form."""
    about = create_page(business=shop, title="About")
    page = new_page(bypass_csp=True)
    sign_in(page.context, mira)
    page.goto(f"/merchant/pages/{about.pk}/edit/")
    page.locator("form#open").evaluate(
        "(form, html) => form.insertAdjacentHTML('afterbegin', html)", PLANTED.format(path)
    )
    page.get_by_role("textbox", name="Title").press("Enter")  # presses the first button of the form
    expect(page.get_by_text("This form has expired, and nothing was saved.")).to_be_visible()
    assert page.url.endswith(path)
    assert not Staff.objects.exists()
    assert mailoutbox == []
