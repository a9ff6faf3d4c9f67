"""Colors and sizes of text are tokens, and each style is written once.

A page that needs another color or size uses one of `tokens.css`, or names it there.
"""

import re
from pathlib import Path

import pytest
from django.conf import settings

FOLDER = settings.BASE_DIR / "static/css"
TOKENS = {"tokens.css", "accents.css"}  # the latter has the colors that a store may choose
SHEETS = sorted(each for each in FOLDER.rglob("*.css") if each.name not in TOKENS)

SIZES = {12, 13, 14, 16, 20, 28, 32, 44}  # pixels: five for work; figures, and what is seen first
WEIGHTS = {"400", "500", "600"}

TWIN = 6  # declarations: a rule of so many has a class of its own, which the other place uses, too
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
RULE = re.compile(r"([^{};]+)\{([^{}]+?)(?=[{}])")
DECLARATION = re.compile(r"(?P<name>[\w-]+)\s*:\s*(?P<value>[^;{}]+);")
SIZE = re.compile(r"inherit|0|var\(--size-[a-z]+\)")
FONT = re.compile(r"inherit|.*\bvar\(--size-[a-z]+\).*")
NAMED = "aqua|black|blue|brown|cyan|fuchsia|gold|gr[ae]y|green|indigo|lime|magenta|maroon|navy|olive|orange|pink|purple|red|silver|tan|teal|violet|white|yellow"
COLOR = re.compile(
    rf"#[0-9a-f]{{3,8}}\b|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|light-dark|color)\(|(?<![\w-])(?:{NAMED})(?![\w-])",
    re.IGNORECASE,
)


def literals(text: str) -> list[str]:
    """The declarations of a sheet whose color or size of text is no token."""
    return [
        match[0]
        for match in DECLARATION.finditer(COMMENT.sub("", text))
        if (match["name"] == "font-size" and not SIZE.fullmatch(match["value"]))
        or (match["name"] == "font" and not FONT.fullmatch(match["value"]))
        or COLOR.search(match["value"])
    ]


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_colors_and_sizes_of_text_are_tokens(sheet: Path) -> None:
    assert literals(sheet.read_text()) == []


def test_every_kind_of_literal_is_found() -> None:
    kept = "font-size: var(--size-text); font: inherit; white-space: nowrap; color: var(--bad); background: color-mix(in oklab, var(--bad) 86%, var(--text));"
    assert literals(f"a {{ {kept} }} /* #fff; */") == []
    refused = (
        "font-size: 0.875rem;", "font-size: var(--big);", "font: 600 1rem var(--sans);", "color: #999;", "background: rgb(0 0 0 / 40%);",
        "color: light-dark(var(--text), var(--bad));", "border: 1px solid red;", "--mine: #abcdef;",
    )  # fmt: skip
    assert literals(f"a {{ {' '.join(refused)} }}") == list(refused)


def test_there_are_few_sizes_and_weights_of_text() -> None:
    tokens = (FOLDER / "tokens.css").read_text()
    values = re.findall(
        r"--size-(?!code)[a-z]+: (?:([\d.]+)rem|clamp\(([\d.]+)rem, .+, ([\d.]+)rem\)|var\()", tokens
    )
    assert {16 * float(each) for found in values for each in found if each} == SIZES
    for sheet in FOLDER.rglob("*.css"):
        weights = re.findall(r"^\s*font(?:-weight)?: (\d{3})\b(?! \d{3})", sheet.read_text(), re.MULTILINE)
        assert set(weights) <= WEIGHTS, sheet.name


def test_every_size_and_color_that_is_used_is_named() -> None:
    named = set(re.findall(r"(--[\w-]+):", "".join(each.read_text() for each in FOLDER.rglob("*.css"))))
    for sheet in FOLDER.rglob("*.css"):
        assert set(re.findall(r"var\((--[\w-]+)\)", sheet.read_text())) <= named, sheet.name


def test_no_rule_is_written_twice() -> None:
    written: dict[frozenset[str], list[str]] = {}
    for sheet in SHEETS:
        for rule in RULE.finditer(COMMENT.sub("", sheet.read_text())):
            declared = frozenset(match[0] for match in DECLARATION.finditer(rule[2]))
            if len(declared) >= TWIN:
                written.setdefault(declared, []).append(f"{sheet.name}: {rule[1].strip()}")
    assert written
    assert [names for names in written.values() if len(names) > 1] == []
