"""What merchants learn of their apps: on the Notices page and by mail, as they choose."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from accounts.services.sender import send_due
from extensions.models import Breaker, MerchantNotice
from extensions.services.extension_states import change_controls
from extensions.services.manifests import save_manifest
from extensions.tasks import notify_merchants
from installations.models import Installation
from installations.services import pause, uninstall
from installations.services.approval import follow_all
from marketplace.models import App
from marketplace.services import reviews
from tests import factories
from tests.merchants.pages import installed, listed_app, page_of
from tests.pages import signed_in, text_of
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus, ErasureState
from webhooks.models import Attempt, Delivery, Erasure, Webhook
from webhooks.services import erasure

NOTICES = "/merchant/notices/"
OFTEN = {"new_orders": "each", "low_stock": "daily", "new_reviews": "off"}
HOUR = timedelta(hours=1)


@pytest.fixture
def stars(dana: User, shop: Business) -> Installation:
    return installed(listed_app(dana, ["read_products"], name="Loyalty Stars"), shop)


@pytest.fixture
def mails(django_capture_on_commit_callbacks: Any) -> Callable[..., list[EmailMessage]]:
    """Runs what sends mails, and gives them."""

    def run(act: Callable[[], Any] = notify_merchants) -> list[EmailMessage]:
        send_due()
        mail.outbox.clear()
        with django_capture_on_commit_callbacks(execute=True):
            act()
        send_due()
        return list(mail.outbox)

    return run


def release(app: App, **manifest: Any) -> None:
    """An approved version with this manifest, which installations follow."""
    app = App.objects.get(pk=app.pk)
    save_manifest(app=app, developer=app.developer, document=manifest)
    reviewer = factories.reviewer(f"r{app.versions.count()}@example.com")
    reviews.approve(submission=factories.submit(app), reviewer=reviewer)
    follow_all()


def script(name: str) -> dict[str, Any]:
    return {
        "embedType": name,
        "kind": "GLOBAL_SCRIPT",
        "name": name.title(),
        "scriptUrl": f"https://app.example.com/{name}.js",
        "position": "head",
    }


@pytest.mark.long
def test_request_for_scripts_only_is_mailed_once_and_again_for_another_one(
    browser: Client, stars: Installation, mails: Any
) -> None:
    release(stars.app, embeds=[script("shine")])
    (letter,) = mails()
    assert letter.to == ["mira@example.com"]
    assert letter.subject == "Loyalty Stars asks for more permissions in Mira's shop"
    assert "- Shine: A script from app.example.com/shine.js on every page" in letter.body
    assert page_of(stars, "permissions/") in letter.body
    assert "the new parts stay off" in letter.body
    assert mails() == []
    release(stars.app, embeds=[script("shine")])
    assert mails() == [], "The same is not asked twice."
    release(stars.app, embeds=[script("shine"), script("glow")])
    assert "- Glow: A script" in mails()[0].body
    assert "Loyalty Stars asks for more permissions" in text_of(browser.get(NOTICES))


def test_scopes_and_scripts_are_one_mail(stars: Installation, mails: Any) -> None:
    App.objects.update(scopes=["read_products", "read_orders"])
    release(stars.app, embeds=[script("shine")])
    (letter,) = mails()
    assert "- Shine: A script" in letter.body
    assert "- See your orders" in letter.body
    assert mails() == []


def test_answered_request_is_not_mailed(browser: Client, stars: Installation, mails: Any) -> None:
    release(stars.app, embeds=[script("shine")])
    browser.post(page_of(stars, "permissions/"), {"answer": "approve", "version": "2"})
    assert mails() == []


@pytest.fixture
def failing(stars: Installation) -> Installation:
    since = timezone.now() - 25 * HOUR
    helpers.webhook(stars, "https://stars.example.com/", ["product.created"], failing_since=since)
    return stars


def test_failing_updates_are_mailed_once(browser: Client, failing: Installation, mails: Any) -> None:
    Business.objects.update(timezone="Asia/Tokyo")
    (letter,) = mails()
    assert letter.to == ["mira@example.com"]
    assert letter.subject == "Loyalty Stars is having trouble in Mira's shop"
    assert re.search("Updates haven't reached it since [^.]+ JST\\.", letter.body)
    assert page_of(failing) in letter.body
    assert mails() == []
    page = text_of(browser.get(NOTICES))
    assert "Updates don’t reach Loyalty Stars" in page.replace("&#x27;", "'")
    # A day later, the same trouble and one that began since.
    now = timezone.now()
    MerchantNotice.objects.update(trouble_mailed_at=now - 26 * HOUR)
    Webhook.objects.update(failing_since=now - 27 * HOUR)
    assert mails() == []
    Webhook.objects.update(failing_since=now - 25 * HOUR)
    assert len(mails()) == 1


@pytest.mark.parametrize("why", ["uninstalled", "suspended", "paused", "sandbox", "muted", "closed"])
def test_trouble_that_is_none_for_the_merchant_is_not_mailed(
    browser: Client, failing: Installation, mira: User, mails: Any, why: str
) -> None:
    if why == "uninstalled":
        uninstall(installation=failing)
    elif why == "suspended":
        App.objects.update(suspended_at=timezone.now())
    elif why == "paused":
        pause(installation=failing, user=mira)
    elif why == "sandbox":
        Business.objects.update(is_sandbox=True)
    elif why == "muted":
        browser.post(NOTICES, OFTEN | {"mails": ["permission_questions"]})
    else:
        User.objects.filter(pk=mira.pk).update(is_active=False)
    assert mails() == []


@pytest.mark.long
def test_hook_that_checkout_skips_for_an_hour_is_mailed(
    browser: Client, stars: Installation, mails: Any
) -> None:
    hook = factories.hook(stars.app, "order.validate")
    now = timezone.now()
    made = Breaker.objects.create(
        installation=stars,
        definition=hook,
        failures=9,
        opened_times=4,
        open_until=now,
        open_since=now - HOUR / 2,
    )
    assert mails() == []
    assert "Checkout skips Loyalty Stars" in text_of(browser.get(NOTICES))
    Breaker.objects.filter(pk=made.pk).update(open_since=now - HOUR)
    change_controls(installation=stars, switched={hook.pk: False})
    assert mails() == []
    assert "Checkout skips" not in text_of(browser.get(NOTICES))
    change_controls(installation=stars, switched={hook.pk: True})
    (letter,) = mails()
    assert "Checkout skips it since" in letter.body
    assert mails() == []
    # Its breaker closes and opens again, all day long.
    Breaker.objects.filter(pk=made.pk).update(open_since=now - 2 * HOUR)
    MerchantNotice.objects.update(trouble_mailed_at=now - 3 * HOUR)
    assert mails() == [], "one mail a day"
    MerchantNotice.objects.update(trouble_mailed_at=now - 24 * HOUR)
    assert len(mails()) == 1


@pytest.mark.long
def test_many_are_mailed_in_batches(
    dana: User, stars: Installation, mails: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extensions.services.notices.MAILS_AT_ONCE", 2)
    for number in range(4):
        owner = factories.merchant(f"m{number}@example.com")
        installed(stars.app, factories.business(owner))
    release(stars.app, embeds=[script("shine")])
    assert len({letter.to[0] for letter in mails()}) == 5
    for each in Installation.objects.all():
        helpers.webhook(
            each, "https://x.example.com/", ["product.created"], failing_since=timezone.now() - 25 * HOUR
        )
    assert len({letter.to[0] for letter in mails()}) == 5
    assert mails() == []


@pytest.mark.parametrize(
    ("status", "state", "word"),
    [
        (DeliveryStatus.SUCCEEDED, ErasureState.CONFIRMED, "erased the data of"),
        (DeliveryStatus.EXHAUSTED, ErasureState.OVERDUE, "hasn't confirmed erasing"),
    ],
)
def test_end_of_an_erasure_is_mailed_and_shown(
    browser: Client, stars: Installation, mails: Any, status: str, state: str, word: str
) -> None:
    Business.objects.update(timezone="Asia/Tokyo")
    uninstall(installation=stars, now=timezone.now() - 50 * HOUR)
    delivery = Delivery.objects.get()
    Attempt.objects.create(
        delivery=delivery, number=1, attempted_at=timezone.now(), duration_ms=5,
        http_status=200 if status == DeliveryStatus.SUCCEEDED else 500,
    )  # fmt: skip
    Delivery.objects.update(status=status, attempt_count=1, finished_at=timezone.now())
    (letter,) = mails(erasure.update_states)
    assert Erasure.objects.get().state == state
    assert word in letter.subject
    assert (" JST that it erased" in letter.body) == (state == ErasureState.CONFIRMED)
    assert page_of(stars, "receipt/") in letter.body
    page = text_of(browser.get(NOTICES))
    assert "Loyalty Stars: " in page
    assert page_of(stars, "receipt/") in page
    assert mails(erasure.update_states) == []


def test_merchant_chooses_mails_here_as_on_the_profile(browser: Client, mira: User) -> None:
    answer = browser.post(NOTICES, OFTEN | {"mails": ["erasures"]})
    assert answer["Location"] == NOTICES
    for address in (NOTICES, "/accounts/profile/"):
        page = text_of(browser.get(address))
        assert 'value="erasures" id="id_mails_2" checked' in page
        assert 'value="failing_apps" id="id_mails_1">' in page
    assert browser.post(NOTICES, OFTEN | {"mails": ["review_decisions"]}).status_code == 422


def test_notices_show_no_other_stores(dana: User, stars: Installation, failing: Installation) -> None:
    tom = factories.merchant("tom@example.com")
    factories.business(tom)
    assert "Loyalty Stars" not in text_of(signed_in(tom).get(NOTICES))
    assert "Choose your mails on" in text_of(signed_in(dana).get(NOTICES))
