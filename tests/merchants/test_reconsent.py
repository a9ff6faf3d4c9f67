"""An app asks for more: the merchant is asked, decides, and the same token follows."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.core.mail import EmailMessage
from django.test import Client

from accounts.models import Business, User
from accounts.services.sender import send_due
from accounts.sign_in import tokens
from extensions.services import notices
from extensions.tasks import notify_merchants
from installations.enums import HistoryKind
from installations.models import Installation
from installations.services import uninstall
from installations.services.approval import follow
from marketplace.models import App, AppVersion, Submission
from marketplace.services import reviews
from marketplace.services.apps import update_app
from tests import factories
from tests.merchants.pages import ask_for_more, installed, listed_app, page_of
from tests.pages import signed_in, text_of

NOW = datetime(2026, 11, 20, 15, 31, 8, tzinfo=UTC)
DAY = timedelta(days=1)
SPEC = "Contract 3 OAuth 2.0"


@pytest.fixture
def stars(dana: User) -> App:
    return listed_app(dana, ["read_products", "read_business"], name="Loyalty Stars")


@pytest.fixture
def asking(stars: App, shop: Business) -> Installation:
    """Installed at `NOW` with two permissions, and asking for a third."""
    installation = installed(stars, shop, now=NOW)
    ask_for_more(
        installation, ["read_products", "read_business", "read_orders"], "To thank reviewers with a star."
    )
    return installation


def answer(browser: Client, installation: Installation, word: str, version: int = 2) -> Any:
    return browser.post(page_of(installation, "permissions/"), {"answer": word, "version": str(version)})


def may_read_orders(installation: Installation) -> bool:
    headers = {"authorization": f"Bearer {installation.raw_token}"}  # type: ignore[attr-defined]
    return Client(headers=headers).get("/app-api/orders").status_code == 200


@pytest.mark.long
def test_question_shows_the_difference_first(browser: Client, asking: Installation) -> None:
    for path in ("/merchant/apps/", page_of(asking), page_of(asking, "permissions/")):
        page = text_of(browser.get(path))
        assert (
            "</svg>New</span> <span>See your orders with your customers&#x27; names and contact details</span>"
            in page
        )
        assert page.index("See your orders") < page.index("<summary>2 permissions it already has")
        assert "To thank reviewers with a star." in page
        assert (
            'the app keeps working with the permissions you allowed on <time datetime="2026-11-20T15:31:08.000Z">'
            in page
        )
        assert ">Approve</button>" in page
    assert "</svg>Needs approval</span>" in text_of(browser.get("/merchant/apps/"))


def test_every_page_of_the_shop_leads_to_the_question(browser: Client, asking: Installation) -> None:
    """Lists by the number beside *Notices* alone, so that their rows begin at the top."""
    for path, asks in (("/merchant/", True), ("/merchant/store/", True), ("/merchant/businesses/", False)):
        page = text_of(browser.get(path)).replace("</span>", "")
        assert "Notices, 1 needs your attention" in re.sub(r"<[^>]*>", "", page)
        assert ("Loyalty Stars asks for more permissions" in page) == asks
        assert (f'href="{page_of(asking, "permissions/")}"' in page) == asks


def test_reason_is_that_of_the_approval_that_asked(browser: Client, asking: Installation, stars: App) -> None:
    factories.approve(App.objects.get(pk=stars.pk))
    assert "To thank reviewers with a star." in text_of(browser.get(page_of(asking)))


def test_reason_given_without_asking_for_more_is_not_shown(
    browser: Client, asking: Installation, stars: App, dana: User
) -> None:
    """A later version that leaves the scopes alone, submitted with a reason all the same."""
    update_app(app=App.objects.get(pk=stars.pk), changes={"name": "Loyalty Suns"})
    api = Client(headers={"authorization": f"Bearer {tokens.issue(dana).access}"})
    body = {"scopeReason": "Bug fixes."}
    made = api.post(f"/developer/apps/{stars.pk}/submit", body, content_type="application/json")
    assert made.status_code == 201
    reviews.approve(submission=Submission.objects.get(pk=made.json()["id"]), reviewer=factories.reviewer())
    page = text_of(browser.get(page_of(asking)))
    assert "To thank reviewers with a star." in page
    assert "Bug fixes." not in page


def test_reason_for_what_was_agreed_to_before_is_not_given(
    browser: Client, asking: Installation, stars: App
) -> None:
    answer(browser, asking, "approve")
    ask_for_more(asking, ["read_products", "read_business", "read_orders", "read_pages"])
    page = text_of(browser.get(page_of(asking)))
    assert "The developer gave no reason." in page
    assert "To thank reviewers" not in page


@pytest.mark.spec(
    SPEC, "The merchant approves added scopes on the installed-apps page; the same token grants them"
)
def test_yes_holds_at_once_for_the_same_token(browser: Client, asking: Installation, mira: User) -> None:
    assert not may_read_orders(asking)
    response = answer(browser, asking, "approve")
    assert response["Location"] == page_of(asking)
    assert may_read_orders(asking)
    asking.refresh_from_db()
    assert not asking.needs_reconsent
    entry = asking.history.get(kind=HistoryKind.AGREED)
    assert entry.actor == mira
    assert entry.scopes == ["read_products", "read_orders", "read_business"]
    page = text_of(browser.get(page_of(asking)))
    assert "Approved. Loyalty Stars can use its new permissions now." in page
    assert "asks for more" not in page


@pytest.fixture
def asking_for_pages(dana: User, shop: Business) -> Installation:
    """Installed without orders, which the app did not name in `scope`; a version adds pages, with a reason."""
    app = listed_app(dana, ["read_products", "read_orders"], name="Page Turner")
    installation = installed(app, shop)
    chosen = {"narrowed_scopes": ["read_products"], "left_out_scopes": ["read_orders"]}
    Installation.objects.update(granted_scopes=["read_products"], **chosen)
    ask_for_more(installation, ["read_products", "read_orders", "read_pages"], "To link your pages.")
    installation.refresh_from_db()
    return installation


@pytest.mark.long
def test_what_the_app_left_out_is_neither_shown_nor_granted(
    browser: Client, asking_for_pages: Installation, told: Any
) -> None:
    (letter,) = told()
    assert "- See the pages of your store" in letter.body
    assert "orders" not in letter.body
    for path in ("/merchant/apps/", page_of(asking_for_pages), page_of(asking_for_pages, "permissions/")):
        page = text_of(browser.get(path))
        assert page.count("</svg>New</span>") == 1
        assert "See the pages of your store" in page
        assert "To link your pages." in page
        assert "See your orders" not in page
    answer(browser, asking_for_pages, "approve")
    asking_for_pages.refresh_from_db()
    assert not asking_for_pages.needs_reconsent
    assert asking_for_pages.granted_scopes == ["read_products", "read_pages"]
    follow(version=AppVersion.objects.get(app=asking_for_pages.app_id, number=2))
    asking_for_pages.refresh_from_db()
    assert not asking_for_pages.needs_reconsent, "What was left out stays left out."


@pytest.mark.spec(SPEC, "Declined scopes: the app keeps what it was granted")
def test_no_keeps_the_app_as_it_was_and_is_remembered(
    browser: Client, asking: Installation, mira: User
) -> None:
    answer(browser, asking, "decline")
    page = text_of(browser.get(page_of(asking)))
    assert "Declined. Loyalty Stars keeps its current permissions." in page
    assert not may_read_orders(asking)
    asking.refresh_from_db()
    assert asking.needs_reconsent
    assert asking.reconsent_declined_at is not None
    entry = asking.history.get(kind=HistoryKind.DECLINED)
    assert (entry.actor, entry.scopes) == (mira, []), "It decides nothing about scopes."


@pytest.mark.long
def test_after_a_no_nobody_is_asked_for_14_days(mira: User, asking: Installation) -> None:
    with time_machine.travel(NOW + DAY, tick=False) as clock:
        browser = signed_in(mira)
        answer(browser, asking, "decline")
        for path in ("/merchant/", "/merchant/apps/"):
            assert "asks for more permissions" not in text_of(browser.get(path))
        page = text_of(browser.get(page_of(asking)))
        assert 'You declined on <time datetime="2026-11-21T15:31:08.000Z">' in page
        assert ">Approve</button>" not in page
        assert ">Approve</button>" in text_of(browser.get(page_of(asking, "permissions/")))  # when looked for

        clock.move_to(NOW + 15 * DAY - timedelta(seconds=1), tick=False)
        browser = signed_in(mira)  # a session ends before
        assert "asks for more permissions" not in text_of(browser.get("/merchant/"))
        clock.move_to(NOW + 15 * DAY, tick=False)
        assert "asks for more permissions" in text_of(browser.get("/merchant/"))

        answer(browser, asking, "decline")  # a second no rests as long
        assert "asks for more permissions" not in text_of(browser.get("/merchant/"))


def test_yes_to_a_version_that_was_not_shown_is_not_taken(browser: Client, asking: Installation) -> None:
    ask_for_more(asking, ["read_products", "read_business", "read_orders", "write_orders"])
    response = answer(browser, asking, "approve", version=2)
    assert response["Location"] == page_of(asking, "permissions/")
    page = text_of(browser.get(response["Location"]))
    assert "The app has a newer version." in page
    assert "Place orders, update their status" in page
    asking.refresh_from_db()
    assert asking.needs_reconsent
    assert asking.granted_scopes == ["read_products", "read_business"]


@pytest.mark.parametrize("form", [{}, {"answer": "approve"}, {"answer": "perhaps", "version": "2"}])
def test_answer_that_is_none_changes_nothing(
    browser: Client, asking: Installation, form: dict[str, str]
) -> None:
    assert browser.post(page_of(asking, "permissions/"), form).status_code == 302
    asking.refresh_from_db()
    assert asking.needs_reconsent
    assert asking.reconsent_declined_at is None


def test_yes_sent_twice_is_given_once(browser: Client, asking: Installation) -> None:
    answer(browser, asking, "approve")
    assert answer(browser, asking, "approve")["Location"] == page_of(asking)
    assert asking.history.filter(kind=HistoryKind.AGREED).count() == 1


def test_another_merchant_answers_nothing(asking: Installation) -> None:
    stranger = signed_in(factories.merchant("tom@example.com"))
    for word in ("approve", "decline"):
        assert answer(stranger, asking, word).status_code == 404
    asking.refresh_from_db()
    assert asking.needs_reconsent
    assert asking.reconsent_declined_at is None


def test_page_without_a_question_leads_to_the_app(browser: Client, stars: App, shop: Business) -> None:
    installation = installed(stars, shop)
    assert browser.get(page_of(installation, "permissions/"))["Location"] == page_of(installation)


@pytest.mark.long
def test_suspended_app_asks_nothing(browser: Client, asking: Installation) -> None:
    App.objects.update(suspended_at=NOW)
    assert "asks for more permissions" not in text_of(browser.get("/merchant/"))
    assert browser.get(page_of(asking, "permissions/"))["Location"] == page_of(asking)


def test_converted_install_on_a_sandbox_asks_its_developer(dana: User, stars: App, sandbox: Business) -> None:
    converted = installed(stars, sandbox)
    Installation.objects.update(is_test=False)
    ask_for_more(converted, ["read_products", "read_business", "read_orders"])
    answer(signed_in(dana), converted, "approve")
    assert may_read_orders(converted)


# By e-mail


@pytest.fixture
def told(django_capture_on_commit_callbacks: Any) -> Any:
    """Runs the task, and what it does on commit; gives the mails that it sent."""

    def run() -> list[EmailMessage]:
        mail.outbox.clear()
        with django_capture_on_commit_callbacks(execute=True):
            notify_merchants()
        send_due()
        return list(mail.outbox)

    return run


def test_merchant_is_mailed_once_with_what_is_asked_and_why(asking: Installation, told: Any) -> None:
    (letter,) = told()
    assert letter.to == ["mira@example.com"]
    assert letter.subject == "Loyalty Stars asks for more permissions in Mira's shop"
    assert "- See your orders with your customers' names and contact details" in letter.body
    assert "See your products" not in letter.body
    assert "To thank reviewers with a star." in letter.body
    assert f"http://testserver{page_of(asking, 'permissions/')}" in letter.body.replace(
        "http://127.0.0.1:8000", "http://testserver"
    )
    assert told() == []


@pytest.mark.long
def test_each_of_many_is_told_and_none_twice(
    asking: Installation, stars: App, told: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(notices, "MAILS_AT_ONCE", 2)
    for number in range(4):
        installed(
            App.objects.get(pk=stars.pk), factories.business(factories.merchant(f"m{number}@example.com"))
        )
    Installation.objects.update(needs_reconsent=True, granted_scopes=["read_products"])
    assert sorted(letter.to[0] for letter in told()) == [
        "m0@example.com", "m1@example.com", "m2@example.com", "m3@example.com", "mira@example.com",
    ]  # fmt: skip
    assert told() == []


def test_next_approval_that_asks_for_more_is_told_again(asking: Installation, told: Any) -> None:
    told()
    Installation.objects.update(reconsent_notified_at=None)  # as marking it again does
    assert len(told()) == 1


@pytest.mark.parametrize("why", ["uninstalled", "suspended", "deleted", "agreed", "closed"])
def test_nobody_is_told_where_nothing_is_asked(asking: Installation, told: Any, mira: User, why: str) -> None:
    if why == "uninstalled":
        uninstall(installation=asking)
    elif why == "suspended":
        App.objects.update(suspended_at=NOW)
    elif why == "deleted":
        App.objects.update(deleted_at=NOW)
    elif why == "agreed":
        Installation.objects.update(needs_reconsent=False)
    else:
        User.objects.filter(pk=mira.pk).update(is_active=False)
    assert told() == []
