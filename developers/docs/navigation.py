"""The pages of the documentation in their order, for the navigation, the start page and the sitemap."""

from dataclasses import dataclass
from functools import cache

from django.urls import reverse

from developers.docs import guides, reference
from developers.docs.guides import Guide


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


@cache
def parts() -> list[NavigationPart]:
    contract = guides.REFERENCE[-1]
    return [
        NavigationPart("Start", [NavigationEntry("Overview", reverse("docs:index"), "book-open"), *map(_guide, guides.START)]),
        NavigationPart("Tasks", [*map(_guide, guides.TASKS)]),
        NavigationPart(
            "Reference",
            [
                *map(_guide, guides.REFERENCE[:-1]),
                NavigationEntry("Event catalog", reverse("docs:events"), "megaphone", "Every event with its schema and an example."),
                NavigationEntry("Hook catalog", reverse("docs:hooks"), "plug", "Every hook point with its request and response."),
                NavigationEntry("Errors", reverse("docs:errors"), "triangle-alert", "Every error, its cause, and what to do."),
                NavigationEntry("Limits", reverse("docs:limits"), "sliders-horizontal", "Rates, sizes, counts, times and retries."),
                _guide(contract),
            ],
        ),
        NavigationPart(
            "API",
            [
                NavigationEntry("All endpoints", reverse("docs:overview"), "list", "Every call, with samples in curl, Python and JavaScript."),
                *(NavigationEntry(group.name, reverse("docs:group", args=[group.slug]), "chevron-right", exact=False) for group in reference.groups()),
            ],
        ),
        NavigationPart("More", [NavigationEntry("Changelog", reverse("docs:changelog"), "history", "What has changed for apps, with a feed.")]),
    ]  # fmt: skip


def paths() -> list[str]:
    """The addresses of all pages, for the sitemap."""
    return [entry.url for part in parts() for entry in part.entries]


def _guide(guide: Guide) -> NavigationEntry:
    return NavigationEntry(guide.title, reverse("docs:guide", args=[guide.slug]), guide.icon, guide.about)
