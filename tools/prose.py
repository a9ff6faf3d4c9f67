"""Finds phrases that this project avoids, and suggests better ones: `python -m tools.prose`.

It reads what people read: templates and mails, documents, comments, docstrings, and those strings in code that are words
for people. Names, links and quoted code are left out. Guides may have no long sentences, either. The links of documents, and the paths
and sections of the contract that documents, docstrings and comments name, must lead somewhere. With paths
(`python -m tools.prose docs templates/merchants`) it checks only these.
"""

import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePath

from tools.tracked_files import ROOT, tracked

# Text of others, the two files that quote the phrases, and migrations, which stay as they were released.
SKIPPED = ("static/vendor", "tests/browser/vendor", "tools/prose.py", "tests/tools/test_prose.py")
MIGRATIONS = "/migrations/"

# Read by developers, merchants and shoppers.
FOR_USERS = (
    "templates", "docs", "storefront", "merchants", "developers", "sdk", "examples", "README.md", "CHANGELOG.md", "SECURITY.md",
)  # fmt: skip
# Where a shop is a store. Elsewhere it may be the software of others whose stores are connected (contract, section 17).
WITH_STORES_ALONE = (
    "templates/accounts", "templates/developers", "templates/merchants", "templates/storefront", "templates/stores", "storefront",
    "merchants", "sdk/python", "sdk/node", "sdk/js", "examples/sample_app", "examples/checkout_node", "README.md", "SECURITY.md",
)  # fmt: skip


@dataclass(frozen=True)
class Phrase:
    """Words to avoid, what to write instead, and the reason.

    `words` is a regular expression without regard to capitals. A space in it matches any white space, line ends included.
    """

    words: str
    instead: str
    reason: str
    areas: tuple[str, ...] = ()  # none: everywhere

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(
            rf"(?<!\w)(?:{self.words})(?!\w)".replace(" ", r"\s+"), re.IGNORECASE | re.MULTILINE
        )


ARCHAIC = "found in old and legal texts"
RIDDLE = "leaves the reader to guess what is meant"
FOREIGN = "means something else in everyday English"
ONE_WORD = "one word for one thing"
ONE_SPELLING = "one spelling"

PHRASES = (
    Phrase("who(?:m|so)?ever", "anyone who, the person who", ARCHAIC),
    Phrase("anew", "again", ARCHAIC),
    Phrase("(?:where|there|here)(?:of|by|in|upon|with)|whence|hence|lest|hitherto", "so, by it, of it", ARCHAIC),
    Phrase("(?:is|are|was|were) to be", "must be, should be, will be", ARCHAIC),
    Phrase("be had", "available", ARCHAIC),
    Phrase("former", "previous, earlier", ARCHAIC),
    Phrase("nobody(?:['’]s)?", "no user, no app; or: only the owner can", RIDDLE),
    Phrase("what (?:comes|came)", "the request, the response, the result", RIDDLE),
    Phrase("none that", "no … that", RIDDLE),
    Phrase("however (?:apps|stores|things|they|it) (?:do|does|did)", "no matter how", RIDDLE),
    Phrase("a (?:yes|no)(?= (?:to|of|takes|holds|grants|means|is|does)\\b)", "approval, refusal", RIDDLE),
    Phrase("the way (?:that|in which)", "how", "two relative words where one is enough"),
    Phrase("(?<!-)st(?:ands?|ood|anding)(?! for| out| in for|-)", "is, appears, remains, stays", FOREIGN),
    Phrase("told", "notified, shown, given", FOREIGN),
    Phrase("hears? (?:of|from|about)|not heard", "learns of, is notified of, is asked", FOREIGN),
    Phrase("tell(?:s|ing)? of", "describe, report, mention", FOREIGN),
    Phrase("not taken(?! away| out| off)|(?:do|does|did) not take(?! part| place| effect| long| away)", "not accepted, not received", FOREIGN),
    Phrase("takes? (?:them|what|whatever|any|no|only|either|both|every)(?! time| along| away| off| out)", "accepts, receives, reads", FOREIGN),
    Phrase("(?:md|docs?|document|page|table|module|column|field|model|schema) says? (?:what|which|how|where|whether|who|when)", "describes, names, shows", FOREIGN),
    Phrase("sa(?:y|ys|id) of", "describe, report, mention", FOREIGN),
    Phrase("(?:an?|the|no|as) own", "its own, a separate", FOREIGN),
    Phrase("work(?:s|ed)? (?:it|them|this|the \\w+) out(?: again)?", "calculate, update", FOREIGN),
    Phrase("take the \\w+ from a file", "upload a file", FOREIGN),
    Phrase("un?ticked|ticked|un?tick (?:the|a|all|every|those)", "selected, select", ONE_WORD),
    Phrase("sen(?:d|ds|t|ding) (?:\\w+ )?again", "resend, resent; of requests: retry", ONE_WORD),
    Phrase("(?:behaviour|colour|grey|judgement|labell(?:ed|ing)|licence|catalogue(?!\\.\\w)|(?:critic|recogn|organ|serial|normal|initial)is(?:e[ds]?|ing|ation))s?", "behavior, color, gray, judgment, labeled, license, catalog, -ize", ONE_SPELLING),
    Phrase("cancel(?:ed|ing)(?! statement)", "cancelled, cancelling, as the API writes it", ONE_SPELLING),
    Phrase("present (?=(?:token|secret|name|permission|manifest|version|state|value|price|total|setting|one)s?\\b)", "current", ONE_WORD),
    Phrase("(?:sandbox|test) shops?", "sandbox store", ONE_WORD),
    Phrase("(?<![-/])shops?(?!-)", "store", ONE_WORD, WITH_STORES_ALONE),
    Phrase("# (?:How often|Lists|Records|Answers)$", "Rate limits, Pagination, Objects, Responses", "the field's words", ("docs", "templates")),
)  # fmt: skip

GUIDES = re.compile(r"docs/[^/]+\.md|.*README\.md|CONTRIBUTING\.md")
MAX_WORDS = 30  # of a sentence in a guide
BEGIN_WITH_A_NOUN = "begin with a noun: the app that, the person who"
# Begins with a relative clause. A question does, too, and a heading in bold.
NO_NOUN = re.compile(r"(?!\*\*[^*]+\*\*$)[-*\d. ]*(?:Who|What)\b(?! to\b)[^?]*\Z")

# The same in comments and docstrings. A title ("What an app may do.") may begin with What, a sentence after another one may not.
NO_NOUN_IN_CODE = re.compile(
    r"""(?:[.!?][)"”’*_`]*(?:\s+|\n *(?:\#|//) *)|(?:\"{3}|\#|//|/\*) ?(?=Who\b))((?:Who|What)\b(?! to\b)[^.?!]*)(?:[.!]|\Z|(?=\"))"""
)

# A name with a known suffix, or a folder. It may lack the folders at its start: `css/charts.css`.
PATH = re.compile(
    r"`((?:[\w-]+/)*[\w-]+(?:\.\w+)*\.(?:css|html|js|md|po|py|sh|svg|toml|txt|ya?ml)|[\w-]+/[\w/-]*)`"
)
NOT_OURS = re.compile(
    r"(?:build|account/messages|deploy/secrets)(?:/|$)|robots\.txt"
)  # made by a run, or by others
LINK = re.compile(r"\]\((?!\w+:|[/{])([^)\s#]*)(?:#([^)\s]+))?\)")  # to another document, or a heading
# The operator chooses the platform's name (`PLATFORM_NAME`). One place has the default; the rest of these an installation doesn't give out.
NAME = re.compile(r"extension\s+platform", re.IGNORECASE)
MAY_NAME = (
    "config/env/brand.py", "LICENSE", "README.md", "SECURITY.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md", "docs/decisions",
    "docs/operations-settings.md", "sdk", "deploy", "tests", "tools",
)  # fmt: skip
HISTORY = ("CHANGELOG.md", "docs/decisions", "docs/contract")
CONTRACT = ("docs/contract.md", "docs/platform-contract.md")  # each section is on one of them
SECTIONS = re.compile(
    r"""\b(?:contract(?:'s|\.md|\]\((?P<page>[^)]*)\))?,? sections?|spec\("contract) \d+(?:(?:,|,? and) \d+)*""".replace(" ", r"[\s#]+"),
    re.IGNORECASE,
)  # fmt: skip
# In the contract itself. 5.2 is one of an RFC, and a link is checked as such.
SECTIONS_BESIDE = re.compile(r"(?<!\[)\bsections? \d+\b(?!\.\d)")


def main(areas: list[str]) -> int:
    names = [name for name in readable() if not areas or within(name, areas)]
    problems = [problem for name in names for problem in check(name)]
    problems += [*dangling(names), *named(names)]
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


def readable() -> list[str]:
    return [
        name
        for name in tracked()
        if PurePath(name).suffix in READERS and MIGRATIONS not in name and not within(name, SKIPPED)
    ]


def within(name: str, areas: tuple[str, ...] | list[str]) -> bool:
    return any(name == area or name.startswith(f"{area.rstrip('/')}/") for area in areas)


def check(name: str) -> Iterator[str]:
    """Problems of one file, each as `name:line: phrase: suggestion (reason)`."""
    text = (ROOT / name).read_text()
    prose = READERS[PurePath(name).suffix](text)
    for phrase in PHRASES:
        if phrase.areas and not within(name, phrase.areas):
            continue
        for match in phrase.pattern.finditer(prose):
            found = " ".join(match[0].split())
            yield f'{name}:{line_of(match)}: "{found}": write {phrase.instead} ({phrase.reason})'
    if PurePath(name).suffix not in (".html", ".md", ".txt"):
        for match in NO_NOUN_IN_CODE.finditer(prose):
            first = " ".join(match[1].split()[:6])
            yield f'{name}:{line_of(match, 1)}: "{first} …": {BEGIN_WITH_A_NOUN}'
    if GUIDES.fullmatch(name):
        for sentence in sentences(text):
            first = " ".join(text[slice(*sentence.span())].split()[:6])
            words = [word for word in sentence[0].split() if re.search(r"\w", word)]
            if len(words) > MAX_WORDS:
                yield f'{name}:{line_of(sentence)}: "{first} …": {len(words)} words, at most {MAX_WORDS}: make two sentences of it'
            if NO_NOUN.match(sentence[0]):
                yield f'{name}:{line_of(sentence)}: "{first} …": {BEGIN_WITH_A_NOUN}'


def sentences(text: str) -> Iterator[re.Match[str]]:
    """Sentences of a guide or README, without tables, code blocks and headings. Quoted code is one word, and a link is its text."""
    text = blanked(r"^ *(```|~~~)[^\n]*\n.*?^ *\1|<!--.*?-->|^ *(?:\||#)[^\n]*", text)
    text = re.sub(r"`[^`]+`", lambda code: "C" + re.sub(r"\S| ", "c", code[0][1:]), text)
    return re.finditer(SENTENCE, blanked(r"\]\([^)]*\)", text), re.DOTALL | re.MULTILINE)


def dangling(names: list[str]) -> Iterator[str]:
    """Links, named paths and sections of the contract that lead nowhere."""
    tree = "\n".join(["", *(f"/{each}" for each in tracked())])
    pages = {
        page: set(re.findall(r"^## (\d+)\. ", (ROOT / page).read_text(), re.MULTILINE)) for page in CONTRACT
    }
    for name in names:
        text = (ROOT / name).read_text()
        if name.endswith(".md"):
            yield from dead_links(name, text)
        if name.endswith((".md", ".py")) and not within(name, HISTORY):
            for match in PATH.finditer(text):
                if is_lost(match[1], tree):
                    yield f"{name}:{line_of(match)}: `{match[1]}` doesn't exist"
        yield from lost_sections(name, text, pages)


def named(names: list[str]) -> Iterator[str]:
    """The platform's name where the operator's would be wrong."""
    for name in names:
        if not within(name, MAY_NAME):
            for match in NAME.finditer((ROOT / name).read_text()):
                yield f"{name}:{line_of(match)}: the operator chooses the platform's name: settings.PLATFORM_NAME or {{% platform_name %}}"


def lost_sections(name: str, text: str, pages: dict[str, set[str]]) -> Iterator[str]:
    """Sections that aren't on the page of the contract that a link names, or that the text is in; on neither of them, without one."""
    for match in (SECTIONS_BESIDE if name in pages else SECTIONS).finditer(text):
        page = name if name in pages else f"docs/{PurePath(match['page'] or '').name}"
        numbers = pages.get(page) or set().union(*pages.values())
        for number in set(re.findall(r"\d+", match[0])) - numbers:
            yield f"{name}:{line_of(match)}: {page if page in pages else 'the contract'} has no section {number}"


def dead_links(name: str, text: str) -> Iterator[str]:
    for match in LINK.finditer(blanked(FENCED, text)):
        target = (ROOT / name).parent / match[1] if match[1] else ROOT / name
        if not target.exists():
            yield f"{name}:{line_of(match)}: `{match[1]}` doesn't exist"
        elif match[2] and target.suffix == ".md" and match[2] not in anchors(target):
            yield f"{name}:{line_of(match)}: `{match[1] or name}` has no heading #{match[2]}"


@cache
def anchors(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)", blanked(FENCED, document.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", LINK.sub("", heading).lower()).replace(" ", "-") for heading in headings}


def is_lost(path: str, tree: str) -> bool:
    """Whether it names a file, or something in a folder of the root, that isn't there."""
    is_ours = "." in path or f"\n/{path.partition('/')[0]}/" in tree
    return is_ours and not NOT_OURS.match(path) and f"/{path}" not in tree


def line_of(match: re.Match[str], group: int = 0) -> int:
    return match.string.count("\n", 0, match.start(group)) + 1


# A reader returns the text with everything but prose blank, so that lines stay where they are.


def markdown(text: str) -> str:
    text = blanked(FENCED, text)
    return blanked(rf"{CODE}|\]\([^)]*\)|<!--.*?-->", text)


def python(text: str) -> str:
    """Comments, and strings that are words for people."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    kept = [
        (starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1])
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT or (token.type in STRINGS and is_prose(token.string))
    ]
    return blanked(rf"{CODE}|\{{[^{{}}]*\}}", only(kept, text))


def template(text: str) -> str:
    """Text and comments of a Django template, and attributes and arguments that are words for people."""
    text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", lambda tag: only_strings(tag[0]), text)
    return re.sub(r"</?[a-zA-Z][^<>]*>", lambda tag: only_strings(blanked(NOT_FOR_PEOPLE, tag[0])), text)


def script(text: str) -> str:
    """Comments and strings of JavaScript or CSS."""
    return blanked(
        CODE,
        only([match.span() for match in COMMENTS_AND_STRINGS.finditer(text) if is_prose(match[0])], text),
    )


def hash_comments(text: str) -> str:
    return only([match.span() for match in re.finditer(r"(?m)(?<!\S)#.*$", text)], text)


READERS: dict[str, Callable[[str], str]] = {
    ".css": script,
    ".html": template,
    ".js": script,
    ".md": markdown,
    ".py": python,
    ".toml": hash_comments,
    ".txt": template,
    ".yaml": hash_comments,
    ".yml": hash_comments,
    "": hash_comments,
}

# Ends with a full stop, at a middle dot or the next point of a list, or with its paragraph.
SENTENCE = r"\S.*?(?:[.!?][)\"”’*_]*(?=\s+[^a-z\s])| · |\n\s*\n|\n(?= *(?:[-*]|\d+\.) )|\Z)"
FENCED = r"^ *(```|~~~)[^\n]*\n.*?^ *\1"
CODE = r"``.+?``|`[^`\n]+`|https?://\S+"
STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
COMMENTS_AND_STRINGS = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|'[^'\n]*'|`[^`]*`", re.DOTALL)
NOT_FOR_PEOPLE = r"""\b(?:class|style|d|viewBox|sizes|srcset|points|transform|allow|sandbox|rel)="[^"]*\""""


def is_prose(literal: str) -> bool:
    """Whether a string or comment has several words, or is one like a label: `Resend`."""
    return " " in literal.strip() or re.fullmatch(r"\W*[A-Z][a-z]+\W*", literal) is not None


def only_strings(tag: str) -> str:
    return only(
        [match.span() for match in re.finditer(r"\"[^\"]*\"|'[^']*'", tag) if is_prose(match[0])], tag
    )


def only(spans: list[tuple[int, int]], text: str) -> str:
    """The text of these spans, and blanks around it."""
    parts: list[str] = []
    end = 0
    for start, stop in spans:
        parts += blank(text[end:start]), text[start:stop]
        end = stop
    return "".join(parts) + blank(text[end:])


def blanked(pattern: str, text: str) -> str:
    return re.sub(pattern, lambda match: blank(match[0]), text, flags=re.DOTALL | re.MULTILINE)


def blank(text: str) -> str:
    return re.sub(r"\S", " ", text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
