"""The results of a check: lines for people, JSON for programs, JUnit for a CI."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from .rules import GROUPS
from .run import Tried

WIDTH = 100  # of the lines for people
MARKS = {"PASS": "ok", "FAIL": "FAIL", "SKIPPED": "skip"}


def lines_of(tried: Tried, documentation: str) -> Iterator[str]:
    """What people read of one rule."""
    yield f"{MARKS[tried.outcome]:>4}  {tried.rule.id}  {tried.rule.title}"
    if tried.outcome != "PASS":
        yield f"        {tried.detail}"
    if tried.outcome == "FAIL":
        yield f"        {documentation}"


class Lines:
    """Prints each rule as soon as it was tried. Those that one missing rule holds back share a line."""

    def __init__(self, platform: str, say: Callable[[str], None]) -> None:
        self._platform, self._say = platform, say
        self._held: list[Tried] = []

    def add(self, tried: Tried) -> None:
        if self._held and tried.missing != self._held[0].missing:
            self.end()
        if tried.missing:
            self._held.append(tried)
        else:
            self._say("\n".join(lines_of(tried, documentation_of(tried, self._platform))))

    def end(self) -> None:
        if self._held:
            ids = textwrap.wrap(" ".join(each.rule.id for each in self._held), WIDTH - 6)
            lines = [f"skip  {ids[0]}", *(f"      {line}" for line in ids[1:])]
            needs = "It needs" if len(self._held) == 1 else "They need"
            self._say("\n".join([*lines, f"        {needs} {self._held[0].missing}."]))
        self._held = []


def summary(results: Sequence[Tried]) -> str:
    counts = Counter(each.outcome for each in results)
    return f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIPPED']} not tried."


def documentation_of(tried: Tried, platform: str) -> str:
    """The URL of the rule's section in the guide."""
    return f"{platform}/docs/guides/shop-rules/#{tried.rule.id.lower()}"


def record_of(results: Sequence[Tried], *, platform: str, store: str, seconds: float) -> dict[str, Any]:
    """Everything, in the shape of ``schema.json`` beside this file."""
    return {
        "status": "FAILED" if any(each.outcome == "FAIL" for each in results) else "PASSED",
        "platform": platform,
        "store": store,
        "seconds": round(seconds, 3),
        "results": [
            {
                "rule": each.rule.id,
                "group": GROUPS[each.rule.id[:2]],
                "title": each.rule.title,
                "outcome": each.outcome,
                "details": [each.detail],
                "documentation": documentation_of(each, platform),
                "seconds": round(each.seconds, 3),
            }
            for each in results
        ],
    }


def write_json(file: Path, record: dict[str, Any]) -> None:
    file.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_junit(file: Path, record: dict[str, Any]) -> None:
    """One test case for each rule, of a class for each group."""
    results = record["results"]
    suite = ElementTree.Element(
        "testsuite",
        name=f"extension_platform_store check: {record['store']}",
        tests=str(len(results)),
        failures=str(sum(each["outcome"] == "FAIL" for each in results)),
        skipped=str(sum(each["outcome"] == "SKIPPED" for each in results)),
        errors="0",
        time=f"{record['seconds']:.3f}",
    )
    for each in results:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"check.{each['group']}", name=f"{each['rule']} {each['title']}",
            time=f"{each['seconds']:.3f}",
        )  # fmt: skip
        text = _printable("\n".join([*each["details"], each["documentation"]]))
        if each["outcome"] == "FAIL":
            ElementTree.SubElement(case, "failure", message=_printable(each["details"][0])).text = text
        elif each["outcome"] == "SKIPPED":
            ElementTree.SubElement(case, "skipped", message=_printable(each["details"][0]))
        else:
            ElementTree.SubElement(case, "system-out").text = text
    ElementTree.ElementTree(suite).write(file, encoding="utf-8", xml_declaration=True)


def _printable(text: str) -> str:
    """XML has no control characters."""
    return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)
