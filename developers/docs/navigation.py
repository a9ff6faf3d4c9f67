"""The pages of the documentation in their order, for the navigation, the start page and the sitemap."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from django.urls import reverse

from developers.docs import guides, reference
from developers.docs.guides import Guide
from developers.docs.reference import APP_API, DEVELOPER_API, SHOP_API


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    title: str
    url: str
    icon: str
    about: str = ""
    exact: bool = True  # whether pages below it don't count as this one


@dataclass(frozen=True, slots=True)
class NavigationPart:
    name: str
    entries: list[NavigationEntry]


# The tasks by what one is about to do. No part has more than nine entries, which is what an eye takes in.
TASKS: Final = {
    "Connect": ("oauth", "webhooks", "signatures", "missed-events", "re-consent", "erasure"),
    "Add to stores": ("hooks", "blocks", "embeds", "admin-pages"),
    "Test and release": ("local-development", "testing-your-app", "go-live", "review-criteria", "releases"),
}
TOOLS: Final = ("command-line", "sdk-python", "sdk-node", "sdk-browser", "check-rules")


@cache
def parts() -> list[NavigationPart]:
    tasks = [NavigationPart(name, _guides(slugs)) for name, slugs in TASKS.items()]
    groups: dict[str, list[NavigationEntry]] = {APP_API: [], SHOP_API: [], DEVELOPER_API: []}
    for group in reference.groups():
        entry = NavigationEntry(
            group.name, reverse("docs:group", args=[group.slug]), "chevron-right", exact=False
        )
        part = group.endpoints[0].part
        groups[part if part in groups else DEVELOPER_API].append(entry)
    return [
        NavigationPart("Start", [NavigationEntry("Overview", reverse("docs:index"), "book-open"), *map(_guide, guides.START)]),
        *tasks,
        NavigationPart("Tools", _guides(TOOLS)),
        NavigationPart(
            "Reference",
            [
                *_guides(("api", "events", "manifest")),
                NavigationEntry("Event catalog", reverse("docs:events"), "megaphone", "Every event with its schema and an example."),
                NavigationEntry("Hook catalog", reverse("docs:hooks"), "plug", "Every hook point with its request and response."),
                NavigationEntry("Errors", reverse("docs:errors"), "triangle-alert", "Every error, its cause, and what to do."),
                NavigationEntry("Limits", reverse("docs:limits"), "sliders-horizontal", "Rates, sizes, counts, times and retries."),
            ],
        ),
        NavigationPart(
            "Contract",
            [
                *_guides(("contract", "platform-contract")),
                NavigationEntry("Changelog", reverse("docs:changelog"), "history", "What has changed for apps, with a feed."),
            ],
        ),
        NavigationPart(
            APP_API,
            [
                NavigationEntry("All endpoints", reverse("docs:overview"), "list", "Every call, with samples in curl, Python and JavaScript."),
                *groups[APP_API],
            ],
        ),
        NavigationPart(DEVELOPER_API, groups[DEVELOPER_API]),
        NavigationPart(SHOP_API, [*_guides(("connect-a-shop", "shop-rules", "sdk-store-python")), *groups[SHOP_API]]),
        NavigationPart("For merchants", [*map(_guide, guides.MERCHANTS)]),
        NavigationPart("For reviewers", [*map(_guide, guides.REVIEWERS)]),
    ]  # fmt: skip


def neighbors(path: str) -> tuple[NavigationEntry | None, NavigationEntry | None]:
    """The pages before and after one, in the order in which they are listed."""
    entries = [entry for part in parts() for entry in part.entries]
    place = next(number for number, entry in enumerate(entries) if entry.url == path)
    return entries[place - 1] if place else None, entries[place + 1] if place + 1 < len(entries) else None


def paths() -> list[str]:
    """The addresses of all pages, for the sitemap."""
    return [entry.url for part in parts() for entry in part.entries]


def _guides(slugs: Sequence[str]) -> list[NavigationEntry]:
    return [_guide(guides.GUIDES[slug]) for slug in slugs]


def _guide(guide: Guide) -> NavigationEntry:
    return NavigationEntry(guide.title, reverse("docs:guide", args=[guide.slug]), guide.icon, guide.about)
