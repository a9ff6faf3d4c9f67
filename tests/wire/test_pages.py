"""Every page, for everyone: each URL is in the table of `tools.screenshots`, and each page of it is asked for by each role."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.test import Client
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, resolve

from tests.wire.pages import ADMIN_OF_DJANGO, APIS, FETCHED, ONLY_POST
from tools.screenshots import cast as everybody
from tools.screenshots.shots import SHOTS, Shot

PLACE = re.compile(r"\{[^}]*\}+")
STORE = re.compile(r"^/store/[^/?]+")
EXAMPLES = ("x", "1", "01900000-0000-7000-8000-000000000000")  # for each type that a place of a path has

# Pages that a table row reaches by a press, not by its path.
REACHED = {
    "mfa_authenticate": "sign-in-second-step",
    "portal:check": "portal-check",
    "portal:hook_call": "portal-hook-call",
    "storefront:checkout": "store-checkout",
    "storefront:review": "store-review-errors",
}
WITHOUT_A_PAGE = ONLY_POST | FETCHED
# Their address holds a key that only a mail or a device knows. tests/accounts and tests/browser/test_account.py look at them.
BY_KEY = {
    "accounts:confirm_new_email",
    "account_reset_password_from_key", "account_reset_password_from_key_done",
    "mfa_reauthenticate", "mfa_reauthenticate_webauthn", "mfa_remove_webauthn",
}  # fmt: skip


def names(patterns: list[URLPattern | URLResolver], namespace: str = "") -> Iterator[str]:
    for each in patterns:
        if isinstance(each, URLResolver):
            yield from names(
                each.url_patterns, f"{namespace}{each.namespace}:" if each.namespace else namespace
            )
        else:
            yield f"{namespace}{each.name or ''}"


def name_of(shot: Shot) -> str:
    """The name of the route that a row's path leads to."""
    path = urlsplit(shot.path).path
    store = STORE.match(path)
    for example in EXAMPLES:
        filled = PLACE.sub(example, path[store.end() :] if store else path)
        try:
            match = resolve(filled, "config.store_urls" if store else settings.ROOT_URLCONF)
        except Resolver404:
            continue
        if match.view_name:
            return match.view_name
    return ""


@pytest.mark.long
def test_table_has_every_page_with_a_url() -> None:
    rows = {name_of(shot) for shot in SHOTS}
    expected = {
        name
        for urlconf in (settings.ROOT_URLCONF, "config.store_urls")
        for name in names(get_resolver(urlconf).url_patterns)
        if not name.startswith(APIS) and not ADMIN_OF_DJANGO.match(name)
    }
    assert expected - rows - WITHOUT_A_PAGE - BY_KEY - set(REACHED) == set()
    assert (WITHOUT_A_PAGE | BY_KEY | set(REACHED)) <= expected  # no row of what is gone
    assert set(REACHED.values()) <= {shot.name for shot in SHOTS}


SIGN_IN, OK, FORBIDDEN, ABSENT = 302, 200, 403, 404
# What a page answers to somebody who is not signed in, a developer, a merchant and a reviewer, none of whom it belongs to: by the first part of
# its path, and whether the rest names an app, a store or a row.
ROLES = ("anonymous", "sam", "noor", "rae")
ANSWERS = {
    ("portal", True): (SIGN_IN, ABSENT, FORBIDDEN, FORBIDDEN),
    ("portal", False): (SIGN_IN, OK, FORBIDDEN, FORBIDDEN),
    ("merchant", True): (SIGN_IN, ABSENT, ABSENT, ABSENT),  # the reviewer of the cast has a test store
    ("merchant", False): (SIGN_IN, OK, OK, OK),
    ("admin", True): (SIGN_IN, SIGN_IN, SIGN_IN, OK),
    ("admin", False): (SIGN_IN, SIGN_IN, SIGN_IN, OK),
    ("docs", False): (OK, OK, OK, OK),
    ("marketplace", True): (OK, OK, OK, OK),
    ("marketplace", False): (OK, OK, OK, OK),
}
EXCEPTIONS = {"marketplace-app-preview": (SIGN_IN, ABSENT, ABSENT, ABSENT)}  # public apart from it
OF_MERCHANTS = {
    "merchant-businesses",
    "merchant-business-add",
    "merchant-business-errors",
    "merchant-businesses-staff",
    "merchant-staff",
    "merchant-staff-errors",
    "merchant-staff-alone",
}  # a developer has one store, and works in it alone
AFTER_A_SEARCH = {"merchant-customer-erase"}  # without one it leads back


@pytest.mark.slow  # some 900 pages
@pytest.mark.parametrize(("role", "index"), [(role, index) for index, role in enumerate(ROLES)])
@pytest.mark.django_db
def test_page_is_there_for_its_people_only(settings: Any, role: str, index: int) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    cast = everybody.seed()
    browser = Client()
    if role != "anonymous":
        browser.force_login(getattr(cast, role))
    wrong = []
    for shot in SHOTS:
        path = shot.path.partition("?")[0]
        expected = EXCEPTIONS.get(shot.name) or ANSWERS.get((path.split("/")[1], "{" in path))
        if "/invitations/" in path:  # for people with the link
            expected = (OK,) * len(ROLES)
        if expected is None or shot.status not in (OK, FORBIDDEN) or shot.name in AFTER_A_SEARCH:
            continue
        answer = browser.get(path.format(**vars(cast)))
        due = FORBIDDEN if role in ("sam", "rae") and shot.name in OF_MERCHANTS else expected[index]
        if answer.status_code != due or (due == SIGN_IN and "/login/" not in answer["Location"]):
            wrong.append((shot.name, answer.status_code))
    assert wrong == []
