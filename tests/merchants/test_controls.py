"""The switches and the cap on a merchant's page of an app: what is pressed there, and what the store does then."""

from html import unescape
from typing import Any

import pytest
from django.test import Client

from accounts.models import Business
from extensions.enums import ExtensionType
from extensions.models import ExtensionState, HookCall
from installations.models import Installation
from merchants.installed.views import CAP
from stores.hookpoints import PaymentMethod
from tests import factories
from tests.extensions.cast import define
from tests.extensions.hooks import asking
from tests.forms import form_on, send
from tests.hooking import Hooked, Hooking
from tests.merchants.pages import page_of
from tests.pages import signed_in, text_of
from tests.storefront.shopping import Shopper

pytestmark = pytest.mark.long

SWITCHES = "Contract 6 The merchant's switches"
SCRIPT = {"kind": "GLOBAL_SCRIPT", "position": "head", "scriptUrl": "https://app.example.com/stars.js"}
METHODS = {"methods": [{"id": "card", "name": "Card"}]}


class Page:
    """The form as a browser has it: every switch by its label, and the cap."""

    def __init__(self, browser: Client, installation: Installation) -> None:
        self.browser, self.address = browser, page_of(installation)
        page = browser.get(self.address)
        self.form, self.sent = page.context["form"], form_on(page, self.address)
        self.switches = {
            field.label: field.name for field in self.form.visible_fields() if field.label != CAP
        }
        self.on = {label for label, name in self.switches.items() if self.form.fields[name].initial}

    def save(self, **cap: Any) -> Any:
        switched = {name: "on" if label in self.on else None for label, name in self.switches.items()}
        return send(self.browser, self.sent, follow=True, **switched | cap)


@pytest.mark.spec(SWITCHES, "Each hook, script and widget has a switch with the sentence of the consent page")
def test_page_shows_every_part_with_its_sentence(browser: Client, hooking: Hooking) -> None:
    hooked = hooking("order.calculate_discounts")
    define(
        hooked.app, ExtensionType.EMBED, "script", name="<b>Stars</b>", description="<i>Shiny</i>", **SCRIPT
    )
    define(hooked.app, ExtensionType.EMBED, "chat")
    define(hooked.app, ExtensionType.BLOCK, "rating")
    page = Page(browser, hooked.installation)
    assert page.on == set(page.switches) == {"Takes discounts off orders", "<b>Stars</b>", "Chat"}
    html = text_of(browser.get(page.address))
    for label in ("Takes discounts off orders", CAP):
        assert f">{label}</label>" in html
    assert "<b>Stars" not in html
    assert "<i>Shiny" not in html
    assert "<i>Shiny</i>" in unescape(html)


@pytest.mark.spec(SWITCHES, "A script or widget that is off is not on the store's pages")
def test_script_and_widget(browser: Client, shop: Business, hooking: Hooking) -> None:
    hooked = hooking("order.validate", {"valid": True})
    define(hooked.app, ExtensionType.EMBED, "script", name="Stars", **SCRIPT)
    define(hooked.app, ExtensionType.EMBED, "chat")
    page = Page(browser, hooked.installation)
    page.on -= {"Stars"}
    page.save()
    assert "stars.js" not in Shopper(shop).see("")
    assert "app.example.com/widget" in Shopper(shop).see("")
    page = Page(browser, hooked.installation)
    page.on = {"Stars", "Can refuse orders"}
    page.save()
    assert "stars.js" in Shopper(shop).see("")
    assert "app.example.com/widget" not in Shopper(shop).see("")
    assert "</svg>Off</span>" in text_of(browser.get(page_of(hooked.installation, "embeds/")))
    assert asking.verdict(shop).valid
    assert HookCall.objects.count() == 1


@pytest.mark.spec(SWITCHES, "The two payment hooks are one switch")
def test_ways_to_pay(browser: Client, shop: Business, hooking: Hooking) -> None:
    hooked: Hooked = hooking("checkout.payment_methods", METHODS)
    create = factories.hook(hooked.app, "checkout.create_payment")
    assert [type(each) for each in asking.methods(shop)] == [PaymentMethod]
    page = Page(browser, hooked.installation)
    assert page.on == {"Offers ways to pay"}
    page.on = set()
    page.save()
    assert asking.methods(shop) == []
    off = ExtensionState.objects.filter(is_on=False).values_list("definition", flat=True)
    assert set(off) == {hooked.definition.pk, create.pk}
    assert "You turned this off." in text_of(browser.get(page_of(hooked.installation, "checkout/")))


@pytest.mark.spec(SWITCHES, "The cap is in per cent, 100 at first")
def test_cap(browser: Client, shop: Business, hooking: Hooking) -> None:
    hooked = hooking("order.calculate_discounts", {"discount": 1500})
    page = Page(browser, hooked.installation)
    assert asking.discount(shop, subtotal=2000).amount == 1500
    assert "Saved." in text_of(page.save(most_discount="25"))
    assert asking.discount(shop, subtotal=2000).amount == 500
    for wrong in ("101", "-1", "", "ten"):
        assert page.save(most_discount=wrong).status_code == 422
    assert Page(browser, hooked.installation).form.fields["most_discount"].initial == 25


def test_app_without_discounts_has_no_cap(browser: Client, hooking: Hooking) -> None:
    assert CAP not in text_of(browser.get(page_of(hooking("order.validate").installation)))


@pytest.mark.spec(SWITCHES, "Later additions are on")
def test_part_that_came_after_the_page_was_opened_stays_on(browser: Client, hooking: Hooking) -> None:
    hooked = hooking("order.validate")
    page = Page(browser, hooked.installation)
    define(hooked.app, ExtensionType.EMBED, "chat")
    page.on = set()
    page.save()
    assert Page(browser, hooked.installation).on == {"Chat"}


def test_only_the_owner_switches(hooking: Hooking) -> None:
    hooked = hooking("order.validate")
    tom = signed_in(factories.merchant("tom@example.com"))
    assert tom.post(page_of(hooked.installation), {"shown": str(hooked.definition.pk)}).status_code == 404
    assert not ExtensionState.objects.exists()
