"""The prose check: what counts as prose, which phrases it finds, and where."""

import re
from pathlib import Path

import pytest

from tools import prose


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A repository of its own; each file in it is tracked."""
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(
        prose,
        "tracked",
        lambda: [file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*") if file.is_file()],
    )
    return tmp_path


def write(root: Path, name: str, text: str) -> str:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return name


FOUND = {
    "comment": ("app/a.py", "x = 1\nx = 2  # started anew\n"),
    "docstring over two lines": ("app/a.py", '\n"""Shows the way\n    that it works."""\n'),
    "message": ("app/a.py", '\nraise Missing(f"{name} was told.")\n'),
    "label of one word": ("app/a.py", '\nlabel = "Nobody"\n'),
    "text of a page": ("templates/a.html", "<h1>{{ title }}</h1>\n<p>The app has not taken it.</p>\n"),
    "text for screen readers": ("templates/a.html", '\n<button aria-label="Resend ticked deliveries">x</button>\n'),
    "argument of a tag": ("templates/a.html", '\n{% notice title="This stands here" %}\n'),
    "mail": ("templates/mail.txt", "Hello {{ name }},\nwhoever you are\n"),
    "document": ("docs/a.md", "\nIt is told by `whoever`.\n"),
    "another spelling": ("docs/a.md", "\nThe colour of it.\n"),
    "person without a noun": ("app/a.py", '\n"""Who leaves loses it."""\n'),
    "person without a noun in a comment": ("static/a.js", "\n// Who leaves loses it.\n"),
    "thing without a noun": ("app/a.py", '\n"""It ends. What is due waits."""\n'),
    "thing without a noun in a comment": ("config.toml", "# It ends.\n# What is due waits.\n"),
    "what an app learns": ("docs/a.md", "\nThe app hears of it.\n"),
    "heading": ("docs/a.md", "\n## How often\n"),
    "comment of a script": ("static/a.js", 'const a = "//nobody";\n// nobody looks\n'),
    "comment of a settings file": ("config.toml", "told = 1\nx = 2 # told\n"),
}  # fmt: skip

LEFT_OUT = {
    "names": ("app/a.py", "def stands(told):\n    return told.anew\n"),
    "keys": ("app/a.py", 'row["told"] = {"anew": 1}\n'),
    "values in an f-string": ("app/a.py", 'print(f"{told} of {anew}")\n'),
    "quoted code": ("app/a.py", '"""Calls `anew` and ``told``."""\n'),
    "tags and their variables": ("templates/a.html", '<p class="told anew">{% if told %}{{ anew }}{% endif %}</p>\n'),
    "sample code and links": ("docs/a.md", "```\ntold\n```\n[page](told/anew.md) https://told.example/anew\n"),
    "titles and questions": ("app/a.py", '"""What an app may do. Who asks? What to do."""\nx = 1  # It ends.\ny = 1\n# What is due\n'),
    "other meanings": ("app/a.py", "# PR stands for pull request; it takes no time; a stand-in\n"),
    "shop in code": ("app/a.py", "# the shop\n"),
    "shop whose stores are connected": ("docs/a.md", "The shop pushes its rows.\n"),
    "shopper and slugs on pages": ("templates/a.html", "<p>Shoppers see harbour-shop and shop-2.</p>\n"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), FOUND.values(), ids=FOUND)
def test_phrase_is_found_once_with_its_line(root: Path, name: str, text: str) -> None:
    [problem] = prose.check(write(root, name, text))
    assert problem.startswith(f"{name}:2: ")


@pytest.mark.parametrize(("name", "text"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_code_and_other_meanings_are_left_out(root: Path, name: str, text: str) -> None:
    assert not list(prose.check(write(root, name, text)))


def test_store_is_never_called_a_shop_on_a_page(root: Path) -> None:
    [problem] = prose.check(write(root, "templates/merchants/a.html", "<p>Your shop</p>"))
    assert problem == 'templates/merchants/a.html:1: "shop": write store (one word for one thing)'


def test_sentence_of_a_guide_begins_with_a_noun(root: Path) -> None:
    allowed = (
        "What is an app? What to do. **What people typed.** A member who leaves.\n# What goes\n| Who |\n"
    )
    assert not list(prose.check(write(root, "docs/a.md", allowed)))
    assert list(
        prose.check(write(root, "docs/a.md", "It ends. Who leaves loses\n`it`.\n\n- **What is due** waits."))
    ) == [
        'docs/a.md:1: "Who leaves loses `it`. …": begin with a noun: the app that, the person who',
        'docs/a.md:4: "- **What is due** waits. …": begin with a noun: the app that, the person who',
    ]


@pytest.fixture
def contract(root: Path) -> Path:
    write(root, "docs/contract.md", "## 5. Webhooks\n\nAs in section 5, and RFC 6749 section 6.2.\n")
    write(root, "docs/platform-contract.md", "## 8. Doors\n\nAs in [section 5](contract.md#5-webhooks).\n")
    write(root, "app/static/css/a.css", "")
    return root


REFERENCES = {
    "path": ("docs/a.md", "\n`app/css/a.css`", "`app/css/a.css` doesn't exist"),
    "path in a docstring": ("app/a.py", '\n"""See `tests/test_gone.py`."""', "`tests/test_gone.py` doesn't exist"),
    "name of a file": ("docs/a.md", "\n`b.css`", "`b.css` doesn't exist"),
    "link": ("docs/a.md", "\n[a](../b.md)", "`../b.md` doesn't exist"),
    "link to a heading": ("docs/a.md", "\n[a](contract.md#6-pages)", "`contract.md` has no heading #6-pages"),
    "link to a heading beside it": ("docs/a.md", "\n[a](#pages)", "`docs/a.md` has no heading #pages"),
    "folder": ("docs/a.md", "\n`app/views`", "`app/views` doesn't exist"),
    "section": ("app/a.py", "x = 1\n# The contract,\n# section 10.", "the contract has no section 10"),
    "one of two sections": ("docs/a.md", "\n[contract](contract.md), sections 5 and 6", "docs/contract.md has no section 6"),
    "section of the other page": ("docs/a.md", "\n[contract](contract.md), section 8", "docs/contract.md has no section 8"),
    "section of a test": ("app/a.py", '\n@spec("Contract 7 Pages", "rule")', "the contract has no section 7"),
    "section in the contract": ("docs/contract.md", "\n## 5. Webhooks\n(section 8)", "docs/contract.md has no section 8"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "problem"), REFERENCES.values(), ids=REFERENCES)
def test_path_or_section_that_does_not_exist_is_found(
    contract: Path, name: str, text: str, problem: str
) -> None:
    [found] = prose.dangling([write(contract, name, text)])
    assert re.fullmatch(rf"{name}:[23]: {re.escape(problem)}", found)


def test_paths_and_sections_that_exist_or_are_of_others_are_left_out(contract: Path) -> None:
    """A path may begin at any folder; URLs, files that a run makes, and sections of standards aren't ours."""
    text = "`static/css/a.css` `app/static` `css/a.css` `cart/` `/app/no.html` `build/a.md` contract, section 5; contract, section 8; RFC 6749, section 6\n"
    text += "## A `b` *c*\n[a](contract.md#5-webhooks) [b](#a-b-c) [c](https://a.example/b.md) [d](/docs/)\n```\n[e](f.md)\n```\n"
    assert not list(prose.dangling([*prose.CONTRACT, write(contract, "docs/a.md", text)]))


def test_named_area_alone_is_checked(contract: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, "docs2/a.md", "told\n")
    assert prose.main(["docs"]) == 0
    write(root, "docs/a.md", "told\n")
    assert prose.main(["docs"]) == 1
    assert capsys.readouterr().out.startswith("docs/a.md:1")
    assert prose.main([]) == 1


SHORT, LONG = "Some " + "word " * 28 + "end.", "Some " + "word " * 29 + "end."
LISTED = f"- {SHORT[:-1]}\n- {SHORT}\n\n{SHORT} {SHORT}\n{SHORT[:-1]} · {SHORT[:-1]}\n"
NOT_READ = f"# {LONG}\n| {LONG} |\n\n```\n{LONG}\n```\n\n`{LONG}` [{SHORT[:-5]}](a/b.md 'one two')\n"


@pytest.mark.parametrize("name", ["docs/a.md", "sdk/README.md", "CONTRIBUTING.md"])
def test_sentence_of_more_than_30_words_is_found_with_its_line(root: Path, name: str) -> None:
    text = f"{SHORT}\n{LONG}\n\n- {LISTED}"
    assert list(prose.check(write(root, name, text))) == [
        f'{name}:2: "Some word word word word word …": 31 words, at most 30: make two sentences of it'
    ]


def test_lists_tables_code_and_headings_are_no_long_sentences(root: Path) -> None:
    assert not list(prose.check(write(root, "docs/a.md", LISTED + NOT_READ)))
    assert not list(prose.check(write(root, "docs/decisions/a.md", LONG)))


def test_platforms_name_is_found_where_the_operators_would_be_wrong(root: Path) -> None:
    name = "Extension Platform"
    write(root, "templates/a.html", f"<p>\n{name}</p>")
    write(root, "app/a.py", 'x = "extension  platform"\n')
    write(root, "docs/a.md", "The `extension-platform` command, `extension_platform_x`.\n")
    write(root, "README.md", name)
    write(root, "config/env/brand.py", f'NAME = "{name}"\n')
    found = sorted(each.partition(": ")[0] for each in prose.named(prose.readable()))
    assert found == ["app/a.py:1", "templates/a.html:2"]
