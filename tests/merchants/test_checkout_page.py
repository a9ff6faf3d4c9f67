"""What Mira sees of an app at her checkout, and what she can do about it."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Business, User
from extensions.hooks import skipped
from extensions.models import Breaker, HookCall
from stores.hookpoints import OrderVerdict
from tests import factories
from tests.extensions.hooks import asking
from tests.hooking import Hooked, Hooking
from tests.merchants.pages import page_of
from tests.pages import unescaped
from tests.receivers import Answer


@pytest.fixture
def page(mira: User) -> Client:
    client = Client()
    client.force_login(mira)
    return client


def url(hooked: Hooked, name: str = "checkout", *more: Any) -> str:
    return reverse(f"merchants:{name}", args=[hooked.installation.pk, *more])


def test_app_that_works_says_so(page: Client, shop: Business, hooking: Hooking) -> None:
    app = hooking("checkout.shipping_rates", {"fee": 1})
    asking.fee(shop)

    shown = unescaped(page.get(url(app)))
    assert "Called once in the last 7 days. It always responded" in shown
    assert "Working" in shown


def test_trouble_is_told_in_plain_words(page: Client, shop: Business, hooking: Hooking) -> None:
    app = hooking("order.calculate_discounts", 500)
    for _ in range(3):
        asking.discount(shop)

    shown = unescaped(page.get(url(app)))
    assert "3 times it didn't respond correctly." in shown
    assert "Checkout waited up to" in shown
    assert "for this app; buyers saw the normal price." in shown


@pytest.mark.long
def test_app_that_works_again_says_since_when(page: Client, shop: Business, hooking: Hooking) -> None:
    """On both of its pages, which count what failed before."""
    app = hooking("checkout.shipping_rates", 500)
    asking.fee(shop)
    earlier, now = timezone.now() - timedelta(days=5), timezone.now()
    HookCall.objects.update(called_at=earlier)
    assert "</svg>Working</span>" in unescaped(page.get(page_of(app.installation)))  # not called since
    app.receiver.respond_with(Answer(body=b'{"fee": 90}'))
    asking.fee(shop)
    for address in (url(app), page_of(app.installation)):
        shown = unescaped(page.get(address))
        assert f"</svg>Working since {now:%H:}" in shown
        assert "</svg>Working</span>" not in shown
    assert f"1 failed, the last on {earlier:%-d %b}" in unescaped(page.get(page_of(app.installation)))


@pytest.mark.long
@pytest.mark.spec("Contract 6 Circuit breaker", "It is shown to the merchant, who can reset it")
def test_merchant_resets_a_breaker(page: Client, shop: Business, hooking: Hooking) -> None:
    app = hooking("checkout.shipping_rates", 500)
    for _ in range(5):
        asking.fee(shop)
    app_page = page_of(app.installation)
    for address in (url(app), app_page, "/merchant/apps/", "/merchant/"):  # one status everywhere
        assert "</svg>Having trouble</span>" in unescaped(page.get(address))
        assert "</svg>Working</span>" not in unescaped(page.get(address))
    assert "Delivery fee: it failed several times in a row" in unescaped(page.get(app_page))
    asking.fee(shop)
    skipped.flush()
    assert "5 failed, 1 skipped, the last" in unescaped(page.get(app_page))

    page.post(url(app, "hook_reset", "checkout.shipping_rates"))

    asking.fee(shop)
    assert len(app.receiver.requests) == 6
    assert "Having trouble" not in unescaped(page.get(url(app)))
    assert "</svg>Working</span>" in unescaped(page.get(app_page))


@pytest.mark.long
@pytest.mark.spec(
    "Contract 6 Hooks", "The merchant may set an installation to refuse what it could not check"
)
def test_merchant_has_unchecked_orders_refused(page: Client, shop: Business, hooking: Hooking) -> None:
    app = hooking("order.validate", 500)

    page.post(url(app, "checkout_refusal"), {"unchecked": "refuse"})
    assert not asking.verdict(shop).valid
    assert "those orders were refused, as you chose" in unescaped(page.get(url(app)))
    page.post(url(app, "checkout_refusal"), {"unchecked": "take"})
    assert asking.verdict(shop) == OrderVerdict(all_heard=False)
    page.post(url(app, "checkout_refusal"), {"unchecked": "perhaps"})
    assert asking.verdict(shop).valid


def test_choice_is_offered_only_where_it_means_something(
    page: Client, shop: Business, hooking: Hooking
) -> None:
    app = hooking("checkout.shipping_rates", {"fee": 1})

    assert "can't check an order" not in unescaped(page.get(url(app)))
    assert page.post(url(app, "checkout_refusal"), {"unchecked": "refuse"}).status_code == 404


@pytest.mark.long
def test_tab_leads_there_from_the_apps_page(
    page: Client, hooking: Hooking, dana: User, shop: Business
) -> None:
    app = hooking("checkout.shipping_rates", {"fee": 1})
    plain = factories.app(dana)
    factories.approve(plain)
    other = factories.installation(plain, shop)

    assert url(app) in unescaped(page.get(reverse("merchants:installation", args=[app.installation.pk])))
    assert "/checkout/" not in unescaped(page.get(reverse("merchants:installation", args=[other.pk])))


@pytest.mark.long
def test_another_merchant_sees_and_does_nothing(shop: Business, hooking: Hooking, db: None) -> None:
    app = hooking("checkout.shipping_rates", 500)
    for _ in range(5):
        asking.fee(shop)
    stranger = Client()
    stranger.force_login(factories.merchant("noor@example.com"))

    assert stranger.get(url(app)).status_code == 404
    assert stranger.post(url(app, "hook_reset", "checkout.shipping_rates")).status_code == 404
    assert stranger.post(url(app, "checkout_refusal"), {"unchecked": "refuse"}).status_code == 404
    assert Breaker.objects.exists()
