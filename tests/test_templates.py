"""Templates keep to the floors of the house: a template uses its own app and the apps beneath it, never one above or beside it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.template.backends.django import get_installed_libraries

TEMPLATES: Path = settings.BASE_DIR / "templates"
DOMAIN = ("accounts", "marketplace", "stores", "installations", "webhooks", "extensions", "conformance")
SHARED = ("components", "forms", "layouts", "django", "admin")
DOORS = ("developers/docs", "developers/portal", "developers/review", "merchants", "storefront")
LOAD = re.compile(r"{% load ([^%]+?)(?: from (\w+))? %}")
USED = re.compile(r"""{% (?:include|extends) ["']([^"']+)["']""")
URL = re.compile(r"""{% url ['"](\w+):""")


def _templates(owner: str) -> Iterator[Path]:
    yield from sorted((TEMPLATES / owner).rglob("*.*"))


def _app_of(library: str) -> str:
    """The package that a tag library comes from: `merchants`, `developers/review`, `django`."""
    module = get_installed_libraries()[library]
    return module.split(".templatetags.")[0].replace(".", "/").split("django/")[0] or "django"


def _libraries(text: str) -> set[str]:
    return {name for names, source in LOAD.findall(text) for name in ([source] if source else names.split())}


@pytest.mark.parametrize("owner", [*DOMAIN, *DOORS])
def test_template_uses_only_what_lies_beneath_it(owner: str) -> None:
    beneath = DOMAIN[: DOMAIN.index(owner)] if owner in DOMAIN else DOMAIN
    allowed = (*beneath, owner)
    for path in _templates(owner):
        text = path.read_text()
        loaded = {_app_of(name) for name in _libraries(text)} - {"django", "common"}
        assert loaded <= set(allowed), f"{path} loads tags of {loaded}"
        for used in USED.findall(text):
            assert used.startswith((*SHARED, *allowed)) or "/" not in used, f"{path} uses {used}"


@pytest.mark.parametrize("owner", [*DOMAIN, "storefront"])
def test_template_links_to_no_door_but_its_own(owner: str) -> None:
    """The platform's doors may link to one another. Stores are on another host, and the domain has no pages."""
    own = {owner} if owner in DOORS else {"accounts", "admin"}
    for path in _templates(owner):
        linked = set(URL.findall(path.read_text()))
        assert linked <= own, f"{path} links to {linked}"
