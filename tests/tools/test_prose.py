"""The prose check: what counts as prose, which phrases it finds, and where."""

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
    "other meanings": ("app/a.py", "# PR stands for pull request; it takes no time; a stand-in\n"),
    "shop in code": ("app/a.py", "# the shop\n"),
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
    [problem] = prose.check(write(root, "templates/a.html", "<p>Your shop</p>"))
    assert problem == 'templates/a.html:1: "shop": write store (one word for one thing)'


def test_named_area_alone_is_checked(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, "docs2/a.md", "told\n")
    assert prose.main(["docs"]) == 0
    write(root, "docs/a.md", "told\n")
    assert prose.main(["docs"]) == 1
    assert capsys.readouterr().out.startswith("docs/a.md:1")
    assert prose.main([]) == 1
