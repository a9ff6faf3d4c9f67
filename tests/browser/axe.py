"""axe-core on a page: the rules of WCAG 2.2 AA that a machine can check, and its best practices."""

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

SCRIPT = Path(__file__).parent / "vendor/axe-core-4.14.1/axe.min.js"
TAGS = [
    "wcag2a",
    "wcag2aa",
    "wcag21a",
    "wcag21aa",
    "wcag22aa",
    "best-practice",
]  # else target-size is not run


@cache
def _script() -> str:
    return SCRIPT.read_text()


def violations(page: Page, *rules: str) -> list[str]:
    """What axe finds by all rules or by the named ones, a line for each rule and element.

    Evaluated, since the policy refuses a script tag.
    """
    page.evaluate(_script())
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": TAGS}
    found: dict[str, Any] = page.evaluate(
        "only => axe.run(document, {runOnly: only, resultTypes: ['violations'], iframes: false})", only
    )
    return [
        f"{rule['id']}: {rule['help']}: {node['html'][:160]} {node.get('failureSummary', '')[:240]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
