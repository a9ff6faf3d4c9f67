"""Connections to shop systems: `connect_shop`, and the pages of the administration (contract, section 17)."""

import json
import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import ConnectedStore, ShopKey, ShopSystem, User
from accounts.services import shops
from installations.models import Installation
from marketplace.models import App
from storeapi.health import SILENT_AFTER
from stores.models import MirrorState, Product
from stores.services.customer_erasure import remove_ended_stores
from tests import factories
from tests.clients import shop_client
from tests.config.scraping import value
from tests.factories import PASSWORD
from webhooks.models import Erasure

pytestmark = pytest.mark.django_db

ADMIN = "/admin/accounts/shopsystem/"
KEY = r"fbsk_[\w-]{43}"
SECRET = r"whsec_[\w+/-]{20,}=*"
STORES = "/store-api/stores"


# --- The command -------------------------------------------------------------------------------------


def run(*args: str) -> str:
    out = StringIO()
    call_command("connect_shop", *args, stdout=out)
    return out.getvalue()


def test_command_prints_key_and_secret() -> None:
    found = re.fullmatch(rf"key: ({KEY})\nsecret: ({SECRET})\n", run("Northwind"))
    assert found
    system = ShopSystem.objects.get()
    assert (system.name, system.secret, system.is_test) == ("Northwind", found[2], False)
    assert Client(headers={"authorization": f"Bearer {found[1]}"}).get(STORES).status_code == 200
    assert not ShopKey.objects.filter(digest__contains=found[1][-10:]).exists()


def test_command_prints_json() -> None:
    urls = ["--commands", "https://nw.example/c", "--sign-in", "https://nw.example/s"]
    found = json.loads(run("Northwind", *urls, "--test", "--json"))
    system = ShopSystem.objects.get()
    assert found.keys() == {"id", "name", "key", "secret", "isTest"}
    assert found == found | {
        "id": str(system.pk),
        "name": "Northwind",
        "secret": system.secret,
        "isTest": True,
    }
    assert re.fullmatch(KEY, found["key"])
    assert (system.commands_url, system.sign_in_url) == ("https://nw.example/c", "https://nw.example/s")


@pytest.mark.parametrize(
    "args",
    [
        ["Northwind"],
        [""],
        [" "],
        ["a" * 101],
        ["Con\ntoso"],
        ["Contoso", "--commands", "http://nw.example/c"],
        ["Contoso", "--commands", "https://10.0.0.1/c"],
        ["Contoso", "--sign-in", "https://me@nw.example/s"],
    ],
)
def test_command_refuses_with_1(args: list[str]) -> None:
    run("Northwind")
    with pytest.raises(CommandError) as refused:
        run(*args)
    assert refused.value.returncode == 1
    assert ShopSystem.objects.count() == 1


# --- Who may -----------------------------------------------------------------------------------------


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_superuser("ada@example.com", PASSWORD)


@pytest.fixture
def admin(ada: User) -> Client:
    return signed_in(ada)


def signed_in(person: User) -> Client:
    browser = Client()
    browser.force_login(person)
    return browser


def page_of(connected: shops.Connected, action: str = "change") -> str:
    return f"{ADMIN}{connected.system.pk}/{action}/"


ACTIONS = ("key", "end-old-key", "secret", "urls", "disconnect")


@pytest.mark.parametrize("may", [False, True])
def test_permission_opens_the_pages(connected: shops.Connected, may: bool) -> None:
    rita = factories.reviewer()
    if may:
        rita.user_permissions.add(Permission.objects.get(codename="connect_shops"))
    browser = signed_in(rita)
    pages = [ADMIN, f"{ADMIN}connect/", page_of(connected)]
    pages += [page_of(connected, action) for action in ("urls", "disconnect")]
    assert {browser.get(page).status_code for page in pages} == {200 if may else 403}
    sent = [browser.post(page_of(connected, action)).status_code for action in ACTIONS]
    assert (403 in sent) == (not may)
    assert ("Shop systems" in browser.get("/admin/").content.decode()) == may


def test_each_press_asks_for_a_fresh_proof(admin: Client, connected: shops.Connected, settings: Any) -> None:
    settings.STEP_UP = True
    for path in (f"{ADMIN}connect/", *(page_of(connected, action) for action in ACTIONS)):
        assert admin.post(path, {"name": "Northwind"})["Location"].startswith("/accounts/prove/"), path
    assert ShopSystem.objects.get().secret == connected.secret


# --- Pages -------------------------------------------------------------------------------------------


def connect(admin: Client, **fields: str) -> Any:
    token = re.search(r'name="form_token" value="([^"]+)"', admin.get(f"{ADMIN}connect/").content.decode())
    assert token
    return admin.post(f"{ADMIN}connect/", {"form_token": token[1], **fields})


def press(admin: Client, connected: shops.Connected, action: str) -> str:
    page = admin.get(page_of(connected)).content.decode()
    form = re.search(rf'action="{re.escape(page_of(connected, action))}".*?</form>', page, re.DOTALL)
    assert form, page
    token = re.search(r'name="form_token" value="([^"]+)"', form[0])
    fields = {"form_token": token[1]} if token else {}
    answer = admin.post(page_of(connected, action), fields, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def key_in(page: str) -> str:
    found = re.search(KEY, page)
    assert found, page
    return found[0]


def test_connect_shows_key_and_secret_once(admin: Client) -> None:
    answer = connect(admin, name="Northwind", commands="https://nw.example/c", is_test="on")
    page, system = answer.content.decode(), ShopSystem.objects.get()
    assert (system.name, system.commands_url, system.is_test) == ("Northwind", "https://nw.example/c", True)
    assert system.secret in page
    assert "no-store" in answer["Cache-Control"]
    key = key_in(page)
    assert Client(headers={"authorization": f"Bearer {key}"}).get(STORES).status_code == 200
    shown = admin.get(f"{ADMIN}{system.pk}/change/").content.decode()
    assert key not in shown
    assert system.secret not in shown
    assert key[-4:] in shown
    token = answer.wsgi_request.POST["form_token"]
    again = admin.post(f"{ADMIN}connect/", {"form_token": token, "name": "Northwind"}, follow=True)
    assert "saved once" in again.content.decode()
    assert ShopSystem.objects.count() == 1


def test_connect_names_what_is_wrong(admin: Client, connected: shops.Connected) -> None:
    taken = connect(admin, name="Northwind")
    assert taken.status_code in (409, 422)
    assert "is connected already" in taken.content.decode()
    assert connect(admin, name="Contoso", sign_in="http://nw.example/").status_code == 422
    assert ShopSystem.objects.count() == 1


def test_urls_can_be_changed(admin: Client, connected: shops.Connected) -> None:
    page, urls = (
        page_of(connected, "urls"),
        {"commands": "https://nw.example/c", "sign_in": "https://nw.example/s"},
    )
    assert admin.post(page, urls)["Location"] == page_of(connected)
    system = ShopSystem.objects.get()
    assert (system.commands_url, system.sign_in_url) == (urls["commands"], urls["sign_in"])
    refused = admin.post(page, urls | {"sign_in": "https://10.0.0.1/s"})
    assert refused.status_code == 422
    assert 'value="https://10.0.0.1/s"' in refused.content.decode()
    assert admin.post(page, {"commands": "", "sign_in": ""})["Location"] == page_of(connected)
    assert ShopSystem.objects.get().commands_url == ""


def works(key: str) -> bool:
    return Client(headers={"authorization": f"Bearer {key}"}).get(STORES).status_code == 200


def test_new_key_leaves_the_old_one_good_for_24_hours(admin: Client, connected: shops.Connected) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        second = key_in(press(admin, connected, "key"))
        assert (works(connected.key), works(second)) == (True, True)
        clock.shift(timedelta(hours=23, minutes=59))
        assert works(connected.key)
        clock.shift(timedelta(minutes=1))
        assert (works(connected.key), works(second)) == (False, True)


def test_of_three_keys_the_oldest_ends(admin: Client, connected: shops.Connected) -> None:
    second = key_in(press(admin, connected, "key"))
    third = key_in(press(admin, connected, "key"))
    assert [works(each) for each in (connected.key, second, third)] == [False, True, True]


def test_old_key_ends_at_a_press(admin: Client, connected: shops.Connected) -> None:
    assert "End the old key" not in admin.get(page_of(connected)).content.decode()
    second = key_in(press(admin, connected, "key"))
    assert "The old key has ended" in press(admin, connected, "end-old-key")
    assert (works(connected.key), works(second)) == (False, True)
    page = admin.post(page_of(connected, "end-old-key"), follow=True).content.decode()
    assert "There is no old key" in page
    assert works(second)


def test_new_secret_replaces_the_old_one(admin: Client, connected: shops.Connected) -> None:
    page = press(admin, connected, "secret")
    secret = ShopSystem.objects.get().secret
    assert secret != connected.secret
    assert secret in page
    assert works(connected.key)


def test_disconnect_asks_for_the_name(
    admin: Client, connected: shops.Connected, store: ConnectedStore
) -> None:
    wrong = admin.post(page_of(connected, "disconnect"), {"name": "northwind"})
    assert wrong.status_code == 422
    assert "Enter the name exactly" in wrong.content.decode()
    assert works(connected.key)


def test_disconnect_ends_keys_and_stores(
    admin: Client, connected: shops.Connected, store: ConnectedStore, app: App
) -> None:
    factories.approve(app)
    installed = factories.installation(app, store.business)
    factories.product(store.business)
    other = shops.connect(name="Contoso")
    shop_client(other).put(f"{STORES}/main", {"name": "Contoso", "currency": "EUR"}, "application/json")
    page = admin.post(page_of(connected, "disconnect"), {"name": "Northwind"}, follow=True)
    assert "Northwind is disconnected" in page.content.decode()
    assert not works(connected.key)
    installed.refresh_from_db()
    assert not installed.is_active
    assert Erasure.objects.filter(installation=installed).exists()
    remove_ended_stores()
    assert not Product.objects.exists()
    assert [each.name for each in ShopSystem.objects.all()] == ["Contoso"]
    assert shop_client(other).get(f"{STORES}/main").status_code == 200
    assert run("Northwind")


def test_name_is_free_as_soon_as_it_is_disconnected(
    admin: Client, connected: shops.Connected, store: ConnectedStore
) -> None:
    admin.post(page_of(connected, "disconnect"), {"name": "Northwind"})
    assert run("Northwind")
    assert admin.get(ADMIN).content.decode().count("Northwind</a>") == 2


def test_ended_connection_gets_no_key(
    admin: Client, connected: shops.Connected, store: ConnectedStore
) -> None:
    admin.post(page_of(connected, "disconnect"), {"name": "Northwind"})
    for action in ("key", "secret", "end-old-key", "disconnect"):
        page = admin.post(
            page_of(connected, action), {"form_token": action, "name": "Northwind"}, follow=True
        )
        assert "is disconnected" in page.content.decode(), action


# --- What operators see ------------------------------------------------------------------------------


def test_page_shows_the_mirror_of_each_store(
    admin: Client, connected: shops.Connected, store: ConnectedStore
) -> None:
    page = admin.get(page_of(connected)).content.decode()
    assert page.count("None yet") == 2
    at = timezone.now()
    MirrorState.objects.update_or_create(
        business=store.business,
        defaults={
            "last_row_at": at,
            "last_snapshot_at": at,
            "snapshots": {
                "products": {
                    "at": at.isoformat(), "missing": 3, "outdated": 1, "ahead": 0, "unknown": 2, "deleted": 2
                },
                "orders": {
                    "at": at.isoformat(), "missing": 0, "outdated": 0, "ahead": 0, "unknown": 0, "deleted": 0
                },
            },
            "refused": [
                {
                    "at": at.isoformat(), "resource": "orders", "externalId": "o-7", "code": "validation_failed",
                    "message": "amount: <b>Must be 12</b>",
                }
            ],
        },
    )  # fmt: skip
    page = " ".join(admin.get(page_of(connected)).content.decode().split())
    assert "None yet" not in page
    assert "3 missing, 1 outdated, 2 unknown, 2 deleted" in page
    assert "o-7" in page
    assert "amount: &lt;b&gt;Must be 12&lt;/b&gt;" in page


@pytest.mark.parametrize("heard", ["nothing", "row", "snapshot"])
def test_store_with_apps_that_sends_nothing_is_silent(
    ada: User, connected: shops.Connected, store: ConnectedStore, app: App, operator: Any, heard: str
) -> None:
    factories.approve(app)
    installation = factories.installation(app, store.business)
    if heard != "nothing":
        at = {f"last_{heard}_at": timezone.now()}
        MirrorState.objects.update_or_create(business=store.business, defaults=at)
    assert silent(operator) == 0
    with time_machine.travel(timezone.now() + SILENT_AFTER + timedelta(minutes=1)):
        assert silent(operator) == 1
        assert "Silent" in signed_in(ada).get(page_of(connected)).content.decode()
        MirrorState.objects.update_or_create(
            business=store.business, defaults={"last_snapshot_at": timezone.now()}
        )
        assert silent(operator) == 0
        MirrorState.objects.all().delete()
        Installation.objects.filter(pk=installation.pk).update(uninstalled_at=timezone.now())
        assert silent(operator) == 0


def silent(operator: Any) -> float:
    return value(operator, "extension_platform_connected_stores_silent")
