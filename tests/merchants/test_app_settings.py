"""The merchant's settings of an installed app."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from accounts.models import Business, User
from common.errors import Conflict, Invalid, NotAllowed
from extensions.queries import settings_of
from extensions.services.extension_states import save_settings
from installations.models import Installation
from installations.services import uninstall
from marketplace.models import App
from tests import factories
from tests.extensions.settings import give_settings
from tests.merchants.pages import installed, listed_app, page_of
from tests.pages import signed_in, text_of
from tests.waiting import wait_for_locks

SCHEMA = {
    "type": "object",
    "required": ["heading"],
    "properties": {
        "heading": {"type": "string", "default": "Stamps", "maxLength": 20},
        "starts": {"type": "string", "format": "date-time"},
        "days": {"type": "array", "items": {"type": "string", "title": "Day"}},
        "accent": {"$ref": "#/$defs/color"},
    },
    "$defs": {"color": {"type": "string", "format": "color", "default": "#3b4cca"}},
}


@pytest.fixture
def stars(dana: User) -> App:
    return give_settings(listed_app(dana, ["read_orders"], name="Loyalty Stars"), SCHEMA)


@pytest.fixture
def installation(stars: App, shop: Business) -> Installation:
    Business.objects.filter(pk=shop.pk).update(timezone="Europe/Lisbon")
    return installed(stars, shop)


def kept(installation: Installation) -> Any:
    return Installation.objects.get(pk=installation.pk).settings


@pytest.mark.long
@pytest.mark.spec(
    "Contract 6 Extensions", "The merchant's settings of an app are made from its settingsSchema"
)
def test_settings_are_saved_for_the_installation(
    browser: Client, installation: Installation, stars: App
) -> None:
    other = installed(stars, factories.business(factories.merchant("tom@example.com")))
    path = page_of(installation, "settings/")
    assert 'value="Stamps"' in text_of(browser.get(path))
    sent = {"heading": "Ten stamps", "starts": "2026-07-01T10:00", "days.0": "Sunday", "accent": "#112233"}
    response = browser.post(path, sent, follow=True)
    assert "Saved. Loyalty Stars can use the new settings from now on.</" in text_of(response)
    assert kept(installation) == {
        "heading": "Ten stamps", "starts": "2026-07-01T10:00:00+01:00", "days": ["Sunday"], "accent": "#112233",
    }  # fmt: skip
    assert kept(other) == {}
    assert 'value="2026-07-01T10:00"' in text_of(browser.get(path))


@pytest.mark.long
def test_developer_is_told_how_the_app_reads_its_settings(dana: User, stars: App) -> None:
    installation = installed(stars, Business.objects.sandbox_of(dana))
    response = signed_in(dana).post(page_of(installation, "settings/"), {"heading": "Mine"}, follow=True)
    assert "It gets them with installation.updated." in text_of(response)


@pytest.mark.long
@pytest.mark.spec(
    "Contract 6 Extensions", "The installation's settings on the wire are defaults overlaid by values"
)
def test_app_gets_the_defaults_overlaid_by_the_merchants_values(
    browser: Client, installation: Installation
) -> None:
    assert settings_of(installation) == {"heading": "Stamps", "accent": "#3b4cca"}
    browser.post(page_of(installation, "settings/"), {"heading": "Mine", "accent": "#000000"})
    api = Client(headers={"authorization": f"Bearer {installation.raw_token}"})  # type: ignore[attr-defined]
    assert api.get("/app-api/installation").json()["settings"] == {"heading": "Mine", "accent": "#000000"}


@pytest.mark.long
@pytest.mark.spec("Contract 15 Doors", "A default in a settings schema fits its own part")
def test_default_that_does_not_fit_never_locks_the_form(
    browser: Client, installation: Installation, stars: App
) -> None:
    """Of a manifest that was saved before such defaults were refused."""
    properties = {
        "heading": {"type": "string"},
        "count": {"type": "integer", "minimum": 1, "default": 0},
        "tags": {"items": {"type": "string"}, "minItems": 5, "default": ["a", "b"]},
        "box": {
            "type": "object",
            "properties": {"mail": {"type": "string", "format": "email", "default": ""}},
        },
    }
    give_settings(stars, {"type": "object", "properties": properties})
    path = page_of(installation, "settings/")
    assert 'value="0"' not in text_of(browser.get(path))
    assert "Needs settings" not in text_of(browser.get(page_of(installation)))
    response = browser.post(path, {"heading": "Mine", "count": "", "box.mail": ""}, follow=True)
    assert "Saved." in text_of(response)
    assert kept(installation) == {"heading": "Mine"}
    installation.refresh_from_db()
    assert settings_of(installation) == {
        "heading": "Mine",
        "count": 0,
        "tags": ["a", "b"],
        "box": {"mail": ""},
    }


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("theirs", "status"), [("Theirs", 409), ("Mine", 302)])
def test_settings_that_another_window_saves_at_this_moment(
    browser: Client, installation: Installation, mira: User, theirs: str, status: int
) -> None:
    """Between the reading of the form and its save."""

    def press() -> Any:
        try:
            return browser.post(page_of(installation, "settings/"), {"heading": "Mine"})
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            save_settings(installation=installation, user=mira, values={"heading": theirs})
            pressed = pool.submit(press)
            wait_for_locks(1)
        response = pressed.result(timeout=30)
    assert response.status_code == status
    assert kept(installation) == {"heading": theirs}


def test_wrong_settings_are_told_and_nothing_is_kept(browser: Client, installation: Installation) -> None:
    response = browser.post(page_of(installation, "settings/"), {"heading": "x" * 21, "accent": "blue"})
    assert response.status_code == 422
    page = text_of(response)
    assert '<a href="#id_heading">Heading must have at most 20 characters.</a>' in page
    assert '<a href="#id_accent">Accent must be a color such as #1a2b3c.</a>' in page
    assert "x" * 21 in page
    assert kept(installation) == {}


@pytest.mark.long
@pytest.mark.spec("Contract 6 Extensions", "A number in settings is at most 2^53-1 either way")
@pytest.mark.parametrize("typed", ["1" + "0" * 30, "1e30", "-9007199254740992"])
def test_number_that_the_app_could_not_read_is_refused(
    browser: Client, installation: Installation, stars: App, typed: str
) -> None:
    give_settings(stars, {"type": "object", "properties": {"limit": {"type": "number"}}})
    api = Client(headers={"authorization": f"Bearer {installation.raw_token}"})  # type: ignore[attr-defined]
    response = browser.post(page_of(installation, "settings/"), {"limit": typed})
    assert response.status_code == 422
    assert "must be a number from -9007199254740991 to 9007199254740991" in text_of(response)
    assert typed in text_of(response)
    assert api.get("/app-api/installation").json()["settings"] == {}
    browser.post(page_of(installation, "settings/"), {"limit": "9007199254740991"})
    assert api.get("/app-api/installation").json()["settings"] == {"limit": 9007199254740991}


def test_list_s_button_shows_the_page_again_and_keeps_nothing(
    browser: Client, installation: Installation
) -> None:
    response = browser.post(page_of(installation, "settings/"), {"heading": "Typed", ":do": "add days"})
    assert response.status_code == 200
    page = text_of(response)
    assert 'name="days.0"' in page
    assert 'value="Typed"' in page
    assert "There is a problem" not in page
    assert kept(installation) == {}


@pytest.mark.long
def test_app_s_pages_lead_to_its_settings_only_where_it_has_some(
    browser: Client, installation: Installation, dana: User, shop: Business
) -> None:
    assert f'href="{page_of(installation, "settings/")}"' in text_of(browser.get(page_of(installation)))
    plain = installed(listed_app(dana, ["read_orders"]), shop)
    assert page_of(plain, "settings/") not in text_of(browser.get(page_of(plain)))
    assert browser.get(page_of(plain, "settings/")).status_code == 404


@pytest.mark.long
@pytest.mark.spec("Contract 0 Conventions", "Another tenant's settings are a 404")
def test_strangers_find_nothing(installation: Installation, sam: User, dana: User) -> None:
    for stranger in (factories.merchant("tom@example.com"), sam, dana):  # even the app's developer
        browser = signed_in(stranger)
        assert browser.get(page_of(installation, "settings/")).status_code == 404
        assert browser.post(page_of(installation, "settings/"), {"heading": "Theirs"}).status_code == 404
    assert kept(installation) == {}


@pytest.mark.long
def test_developer_sets_the_app_on_the_own_sandbox(stars: App, sandbox: Business, dana: User) -> None:
    on_sandbox = installed(stars, sandbox)
    signed_in(dana).post(page_of(on_sandbox, "settings/"), {"heading": "Tried"})
    assert kept(on_sandbox)["heading"] == "Tried"


@pytest.mark.long
def test_ended_app_has_no_settings_to_change(browser: Client, installation: Installation, mira: User) -> None:
    uninstall(installation=installation, by=mira)
    response = browser.post(page_of(installation, "settings/"), {"heading": "Late"})
    assert response["Location"] == page_of(installation, "receipt/")
    with pytest.raises(Conflict):
        save_settings(installation=installation, user=mira, values={"heading": "Late"})
    assert kept(installation) == {}


def test_service_refuses_what_the_form_would(installation: Installation, mira: User, dana: User) -> None:
    with pytest.raises(Invalid) as refused:
        save_settings(installation=installation, user=mira, values={"heading": 5, "accent": "blue"})
    assert {each["field"] for each in refused.value.details} == {"settings.heading", "settings.accent"}
    with pytest.raises(NotAllowed):
        save_settings(installation=installation, user=dana, values={})
    assert kept(installation) == {}


@pytest.mark.long
def test_schema_that_changed_meanwhile_loses_nothing(
    browser: Client, installation: Installation, stars: App
) -> None:
    browser.post(page_of(installation, "settings/"), {"heading": "Mine", "days.0": "Sunday"})
    give_settings(stars, {"properties": {"heading": {"type": "string"}, "greeting": {"type": "string"}}})
    browser.post(page_of(installation, "settings/"), {"heading": "Mine", "greeting": "Hi"})
    assert kept(installation) == {"heading": "Mine", "days": ["Sunday"], "greeting": "Hi"}


@pytest.mark.long
def test_value_that_differs_from_its_default_is_marked_and_reset(
    browser: Client, stars: App, shop: Business
) -> None:
    """Reset changes the form like the buttons of a list, and keeps nothing before Save."""
    schema = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "default": "Stars"},
            "look": {"type": "object", "properties": {"dark": {"type": "boolean", "default": False}}},
            "days": {"type": "array", "items": {"type": "string", "default": "Mo"}, "default": ["Mo"]},
            "free": {"type": "string"},
        },
    }
    address = page_of(installed(give_settings(stars, schema), shop), "settings/")

    def marked(page: str) -> list[str]:
        return re.findall(r'value="reset ([^"]+)"', page)

    assert marked(text_of(browser.get(address))) == []
    sent = {"title": "Suns", "look.dark": "on", "days.0": "Tu", "days.0:was": "0", "free": "x"}
    browser.post(address, sent)
    assert marked(text_of(browser.get(address))) == ["title", "look.dark", "days"]
    for name, left in (
        ("title", ["look.dark", "days"]),
        ("look.dark", ["title", "days"]),
        ("days", ["title", "look.dark"]),
    ):
        page = text_of(browser.post(address, sent | {":do": f"reset {name}"}))
        assert marked(page) == left
        assert "Saved." not in page
    assert 'value="Suns"' in text_of(browser.get(address))
    assert browser.post(address, sent | {":do": "reset days.0"}).status_code in (200, 302)
