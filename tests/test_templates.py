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
DRAWN = {"merchants": ("storefront/page.html",)}  # the page editor's canvas is the store's own page
LOAD = re.compile(r"{% load ([^%]+?)(?: from (\w+))? %}")
USED = re.compile(r"""{% (?:include|extends|fixed) ["']([^"']+)["']""")
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
    drawn = (*SHARED, *allowed, *DRAWN.get(owner, ()))
    for path in _templates(owner):
        text = path.read_text()
        loaded = {_app_of(name) for name in _libraries(text)} - {"django", "common"}
        assert loaded <= set(allowed), f"{path} loads tags of {loaded}"
        for used in USED.findall(text):
            assert used.startswith(drawn) or "/" not in used, f"{path} uses {used}"


@pytest.mark.parametrize("owner", [*DOMAIN, "storefront"])
def test_template_links_to_no_door_but_its_own(owner: str) -> None:
    """The platform's doors may link to one another. Stores are on another host, and the domain has no pages."""
    own = {owner} if owner in DOORS else {"accounts", "admin"}
    for path in _templates(owner):
        linked = set(URL.findall(path.read_text()))
        assert linked <= own, f"{path} links to {linked}"


# A form is good for one address (decision 0090)

FORM = re.compile(r"<form\b(?:{%.*?%}|{{.*?}}|[^>{])*>", re.DOTALL)
ACTION = re.compile(r"""\baction="({%.*?%}|{{.*?}}|[^"{]*)""")
TOKEN = re.compile(r"{% csrf_token ?(.*?) ?%}")
STORES_OWN = "storefront"  # its host has no people, sessions and tokens


def _token_for(form: str) -> str:
    """The tag that belongs into this form."""
    found = ACTION.search(form)
    action = found[1] if found else ""
    if named := re.fullmatch(r"{% url (.*?) %}", action):
        return named[1]
    if variable := re.fullmatch(r"{{ (.*?) }}", action):
        return f"to={variable[1]}"
    assert action.startswith("#") or not action, f"name the address by a URL's name: {form}"
    return ""


def test_form_that_goes_elsewhere_has_a_token_for_there() -> None:
    """Without it the form is refused, which only a test or a person who presses its button would notice."""
    found = 0
    for path in TEMPLATES.rglob("*.html"):
        if path.is_relative_to(TEMPLATES / STORES_OWN):
            continue
        text = path.read_text()
        for form in FORM.finditer(text):
            if 'method="post"' not in form[0]:
                continue
            token = TOKEN.search(text, form.end())
            assert token, f"{path}: no token in {form[0]}"
            assert token.start() < text.index("</form>", form.end()), f"{path}: no token in {form[0]}"
            assert token[1] == _token_for(form[0]), f"{path}: {token[0]} in {form[0]}"
            found += 1
        assert not re.search(r'formaction="(?!#)', text), f"{path}: a button of a form leads elsewhere"
    assert found > 120
