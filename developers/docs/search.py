"""Search in the documentation: an index of sections, which each process makes once of the sources of the pages.

People ask in sentences as well as in words. Words that any question has are left out, and of the others the rarer ones count
more. A section that lacks one is found behind those that have them all. It ranks by where the words are: in the title of its
page, in its heading, in its text; a word of the query is also the beginning of a longer one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from math import log
from typing import Final

from django.urls import reverse
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

from common import places
from common.places import Work
from developers.docs import changelog, errors, guides, limits, reference
from developers.docs.reference import FieldRow

_WORD = re.compile(r"[a-z0-9]+")
CONTRACT: Final = "Contract"
MOST: Final = 30  # results of a page
MAX_QUERY: Final = 100  # characters; the rest is ignored
EXCERPT: Final = 180  # characters
IN_TITLE, IN_HEADING, IN_TEXT = 12, 8, 1
WHOLE_WORD: Final = 2  # times as much as its beginning
PHRASE: Final = 6  # the whole query, as it was typed
FOUND_AT_LEAST: Final = 0.5  # of the query's words, by their weight
LONG: Final = 6000  # characters of a section whose words count half, since it has so many
# Guides are for questions, most of which developers ask. The contract and the changelog name everything, and explain nothing.
PARTS: Final = {"Guide": 1.5, "API": 0.7, CONTRACT: 0.5, "Changelog": 0.3}
COMMON: Final = frozenset(
    "a about an and any are as at be by can do does for from get have how i if in is it its many may me mean my of on or should that the "
    "there they this to use was what when where which who why will with without you your".split()
)


@dataclass(frozen=True, slots=True)
class IndexedSection:
    part: str  # Guide, API, Event, …
    title: str  # of the page
    heading: str  # empty for the beginning of the page
    url: str
    text: str
    words: tuple[frozenset[str], frozenset[str], frozenset[str]] = field(repr=False)

    @property
    def name(self) -> str:
        return self.heading or self.title

    @property
    def trail(self) -> str:
        """Where it is: `Guide · Receive webhooks`, or the part alone."""
        is_page = not self.heading or self.title == self.part
        return self.part if is_page else f"{self.part} · {self.title}"


@dataclass(frozen=True, slots=True)
class SearchResult:
    section: IndexedSection
    excerpt: SafeString
    name: SafeString


def search(query: str, most: int = MOST) -> list[SearchResult]:
    """The best sections for a query. Empty for a query without letters and digits."""
    typed = _WORD.findall(query[:MAX_QUERY].lower())
    asked = [word for word in typed if word not in COMMON] or typed
    if not asked:
        return []
    places.require(Work.SEARCH)
    ranked = [
        (score, -place, section)
        for place, section in enumerate(index())
        if (score := _score(section, asked, " ".join(typed)))
    ]
    best = sorted(ranked, key=lambda found: found[:2], reverse=True)[:most]
    return [
        SearchResult(section, _excerpt(section.text, asked), _marked(section.name, asked))
        for _, _, section in best
    ]


def _score(section: IndexedSection, asked: list[str], phrase: str) -> float:
    total = found = wanted = 0.0
    for word in dict.fromkeys(asked):
        rarity = _rarity(_stem(word))
        wanted += rarity
        if score := _score_of_word(section, word):
            found += rarity
            total += rarity * score
    share = found / wanted
    if share < FOUND_AT_LEAST:
        return 0
    if [_stem(word) for word in phrase.split()] == [
        _stem(word) for word in _WORD.findall(section.name.lower())
    ]:
        total += PHRASE * IN_HEADING * wanted
    elif " " in phrase and phrase in " ".join(_WORD.findall(f"{section.name} {section.text}".lower())):
        total += PHRASE * wanted
    return total * share**3 * PARTS.get(section.part, 1.0) / (1 + len(section.text) / LONG)


def _score_of_word(section: IndexedSection, word: str) -> float:
    stem = _stem(word)
    return sum(
        weight * (WHOLE_WORD if stem in words else 1)
        for words, weight in zip(section.words, (IN_TITLE, IN_HEADING, IN_TEXT), strict=True)
        if stem in words or any(each.startswith(word) for each in words)
    )


def _stem(word: str) -> str:
    """One form for "verify", "verifies" and "verifying". The form need not be a word."""
    for ending in ("ically", "ic", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=4096)
def _rarity(stem: str) -> float:
    """Between 1 for what every section has and about 7."""
    having = sum(any(stem in words for words in section.words) for section in index())
    return 1 + log((1 + len(index())) / (1 + having))


def _pattern(asked: list[str]) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![a-z0-9])(?:{'|'.join(sorted(map(re.escape, asked), key=len, reverse=True))})", re.IGNORECASE
    )


def _excerpt(text: str, asked: list[str]) -> SafeString:
    """The part of a text around the first word that was asked for."""
    found = _pattern(asked).search(text)
    start = max(0, found.start() - EXCERPT // 3) if found else 0
    if start:
        start = text.find(" ", start) + 1
    part = text[start : start + EXCERPT]
    if start + EXCERPT < len(text):
        part = part.rpartition(" ")[0] + " …"
    return _marked(("… " if start else "") + part, asked)


def _marked(text: str, asked: list[str]) -> SafeString:
    pieces, end = [], 0
    for found in _pattern(asked).finditer(text):
        pieces += [
            conditional_escape(text[end : found.start()]),
            "<mark>",
            conditional_escape(found[0]),
            "</mark>",
        ]
        end = found.end()
    return mark_safe("".join([*pieces, conditional_escape(text[end:])]))  # noqa: S308 (each piece is escaped)


@cache
def index() -> list[IndexedSection]:
    return [*_guides(), *_endpoints(), *_calls(), *_errors(), *_limits(), *_changes()]


def _section(
    part: str, title: str, heading: str, url: str, text: str, *, about: str = "", below: str = ""
) -> IndexedSection:
    """`about` counts as a heading does, `below` as the text; neither is shown."""
    places = (title, f"{heading} {about}", f"{text} {below}")
    words = tuple(frozenset(map(_stem, _WORD.findall(each.lower()))) for each in places)
    return IndexedSection(part, title, heading, url, " ".join(text.replace("`", "").split()), words)  # type: ignore[arg-type]


_PART_OF: Final = {
    **dict.fromkeys((guides.GUIDES["contract"], guides.GUIDES["platform-contract"]), CONTRACT),
    **dict.fromkeys(guides.MERCHANTS, "Merchants"),
    **dict.fromkeys(guides.REVIEWERS, "Reviewers"),
}


def _guides() -> Iterator[IndexedSection]:
    for guide in guides.GUIDES.values():
        url = reverse("docs:guide", args=[guide.slug])
        part = _PART_OF.get(guide, "Guide")
        sections = guides.page(guide.slug).sections
        start = " ".join(each.text for each in sections if each.heading is None)
        whole = " ".join(f"{each.heading.words if each.heading else ''} {each.text}" for each in sections)
        yield _section(part, guide.title, "", url, f"{guide.about} {start}", about=guide.about, below=whole)
        for section in sections:
            if section.heading:
                yield _section(
                    part,
                    guide.title,
                    section.heading.words,
                    f"{url}#{section.heading.ident}",
                    section.text,
                )


def _endpoints() -> Iterator[IndexedSection]:
    for group in reference.groups():
        url = reverse("docs:group", args=[group.slug])
        yield _section("API", group.name, "", url, group.about)
        for endpoint in group.endpoints:
            operation = endpoint.operation
            text = [f"{endpoint.method} {endpoint.path}.", operation["description"]]
            text += _described([row for _, row in endpoint.parameters] + endpoint.body + endpoint.fields)
            yield _section("API", group.name, operation["summary"], f"{url}#{endpoint.id}", " ".join(text))


def _calls() -> Iterator[IndexedSection]:
    catalogs = (
        ("Event catalog", reverse("docs:events"), reference.events()),
        ("Hook catalog", reverse("docs:hooks"), reference.hooks()),
    )
    for title, url, calls in catalogs:
        yield _section(title, title, "", url, "Headers: " + " ".join(_described(calls[0].headers)))
        for call in calls:
            text = [
                f"{call.operation['summary']}. Payload of {call.name}.",
                call.operation["description"],
                *_described(call.fields + call.answer),
            ]
            yield _section(title, title, call.name, f"{url}#{call.name}", " ".join(text))


def _described(rows: list[FieldRow]) -> list[str]:
    return [f"{row.path}: {row.about}" for row in rows]


def _errors() -> Iterator[IndexedSection]:
    url = reverse("docs:errors")
    yield _section("Errors", "Errors", "", url, "Every error, its cause, and what to do.")
    for status in errors.statuses():
        heading = f"{status.number} {status.name}"
        yield _section("Errors", heading, heading, f"{url}#{status.ident}", status.about, about="Error")
        for problem in status.problems:
            yield _section(
                "Errors",
                heading,
                problem.message,
                f"{url}#{problem.code}",
                f"{problem.code} {problem.cause} {problem.fix}",
            )
    for code in errors.OAUTH:
        yield _section("Errors", "OAuth errors", code.name, f"{url}#{code.name}", f"{code.cause} {code.fix}")
    for name, diagnosis in errors.delivery_classes():
        yield _section(
            "Errors", "Delivery errors", name, f"{url}#class-{name}", f"{diagnosis.cause} {diagnosis.fix}"
        )


def _limits() -> Iterator[IndexedSection]:
    url = reverse("docs:limits")
    yield _section("Limits", "Limits", "", url, "Rates, sizes, counts, times and retries. Rate limits.")
    for group in limits.groups():
        text = ". ".join(f"{limit.name}: {limit.value}" for limit in group.limits)
        yield _section("Limits", "Limits", group.title, f"{url}#{group.ident}", text)


def _changes() -> Iterator[IndexedSection]:
    url = reverse("docs:changelog")
    yield _section("Changelog", "Changelog", "", url, "What has changed for apps.")
    for release in changelog.releases():
        for group in release.groups:
            yield _section("Changelog", release.title, group.title, f"{url}#{release.ident}", group.text)
