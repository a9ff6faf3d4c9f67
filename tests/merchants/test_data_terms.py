"""Where the data goes, as merchants read it and are asked about it (contract, section 22)."""

from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts.models import Business, Mail, User
from accounts.services import create_reviewer
from accounts.services.sender import send_due
from extensions.services.manifests import save_manifest
from extensions.services.notices import notify_merchants
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.data_terms import DataTerms
from marketplace.models import App
from marketplace.services import releases
from tests import factories
from tests.approvals import approve
from tests.extensions.manifests import script
from tests.installations.oauth_client import address
from tests.installations.oauth_client import browser as consenting
from tests.merchants.pages import installed, listed_app, page_of
from tests.pages import main_words_of, signed_in

SECTION = "Contract 22 Where the data goes"
UNSAID = "The developer hasn't said where the data goes."
GERMANY = "Your data is kept in Germany, for 30 days."
AGREED = {"data_countries": ["DE"], "data_retention_days": 30, "data_processors": "Mailer Ltd."}
ASKS = "has changed where your data goes"


@pytest.fixture
def stars(dana: User) -> App:
    return listed_app(dana, ["read_orders"], name="Loyalty Stars", slug="stars", **AGREED)


@pytest.fixture
def install(stars: App, shop: Business) -> Installation:
    return installed(stars, shop)


def words(browser: Client, path: str) -> str:
    response = browser.get(path)
    assert response.status_code == 200, response
    return main_words_of(response).replace("’", "'")


def question(browser: Client, installation: Installation) -> str:
    """The page that asks; empty if nothing is asked."""
    response = browser.get(page_of(installation, "permissions/"))
    return "" if response.status_code == 302 else main_words_of(response).replace("’", "'")


def answer(browser: Client, installation: Installation, word: str, version: int = 2) -> None:
    browser.post(page_of(installation, "permissions/"), {"answer": word, "version": str(version)})


@pytest.mark.spec(SECTION, "Listing and consent page say one of four sentences")
@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, UNSAID),
        ({"data_countries": ["JP", "DE", "FR"], "data_retention_days": 30}, "Your data is kept in Germany, France and Japan, for 30 days."),
        ({"data_countries": ["DE"], "data_retention_days": 1}, "Your data is kept in Germany, for 1 day."),
        ({"data_countries": ["KR", "BO"]}, "Your data is kept in Bolivia and Korea, as long as the app is installed."),
        ({"data_countries": ["DE"], "data_retention_days": 0}, "Your data is processed in Germany and not kept at all."),
        ({"data_countries": ["AL", "AX"]}, "Your data is kept in Albania and Åland Islands, as long as the app is installed."),
    ],
)  # fmt: skip
def test_sentence_of_listing_and_consent_page(
    dana: User, mira: User, shop: Business, fields: dict[str, Any], sentence: str
) -> None:
    app = listed_app(dana, ["read_pages"], slug="stars", **fields)
    browser = signed_in(mira)
    for path in ("/marketplace/stars/", address(app)):
        said = words(browser, path)
        assert sentence in said
        assert "also processed" not in said
    factories.approve(app, data_processors="Mailer Ltd.")
    app = App.objects.get(pk=app.pk)
    for path in ("/marketplace/stars/", address(app)):
        assert f"{sentence} It is also processed by: Mailer Ltd." in words(browser, path)


@pytest.mark.spec(SECTION, "Missing countries are named and refuse nothing")
@pytest.mark.parametrize("scope", ["read_orders", "write_orders", "read_reviews", "read_products"])
def test_checklist_and_review_page_name_missing_countries(dana: User, scope: str) -> None:
    app = factories.app(dana, slug="stars", scopes=[scope])
    is_named = scope != "read_products"
    portal, missing = signed_in(dana), "Doesn't say where the data goes"
    for path in ("review/", "details/"):
        assert (missing in words(portal, f"/portal/apps/stars/{path}")) == is_named
    submission = factories.submit(app)
    reviewer = create_reviewer(email="rae@example.com", name="Rae Ito")
    page = words(signed_in(reviewer), f"/admin/marketplace/submission/{submission.pk}/change/")
    assert UNSAID in page
    assert ("No countries, though it sees customers' data" in page) == is_named
    App.objects.update(data_countries=["DE"])
    assert missing not in words(portal, "/portal/apps/stars/details/")


@pytest.mark.spec(SECTION, "A country more, a longer retention or other processors ask each store")
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"data_countries": ["DE", "US"]}, "Your data is kept in Germany and United States, for 30 days."),
        ({"data_countries": ["US"]}, "Your data is kept in United States, for 30 days."),
        ({"data_retention_days": 31}, "Your data is kept in Germany, for 31 days."),
        ({"data_retention_days": None}, "Your data is kept in Germany, as long as the app is installed."),
        ({"data_processors": "Sender Inc."}, "It is also processed by: Sender Inc."),
        ({"data_processors": ""}, ""),
        ({"data_retention_days": 0}, ""),
        ({"data_countries": [], "data_retention_days": None}, ""),
        ({"name": "Stars"}, ""),
    ],
)  # fmt: skip
def test_store_is_asked_for_more(
    browser: Client, stars: App, install: Installation, change: dict[str, Any], sentence: str
) -> None:
    approve(stars, "ALL", **change)
    asked = question(browser, install)
    assert (ASKS in asked) == bool(sentence)
    assert sentence in asked
    token = Client(headers={"authorization": f"Bearer {install.raw_token}"})  # type: ignore[attr-defined]
    record = token.get("/app-api/installation").json()
    assert (record["needsReConsent"], token.get("/app-api/orders").status_code) == (False, 200)
    if sentence:
        assert f"You agreed to this before: {GERMANY} It is also processed by: Mailer Ltd." in asked
        assert "Needs approval" in words(browser, "/merchant/apps/")


@pytest.mark.spec(SECTION, "From none said to some: no question")
def test_first_word_about_data_asks_nobody(browser: Client, dana: User, shop: Business) -> None:
    app = listed_app(dana, ["read_orders"])
    install = installed(app, shop)
    approve(app, "ALL", **AGREED)
    assert question(browser, install) == ""
    approve(App.objects.get(pk=app.pk), "ALL", data_countries=["DE", "US"])
    assert "Germany and United States" in question(browser, install), "the first word counts as agreed"


@pytest.mark.spec(SECTION, "Not now is written into the history")
def test_no_is_written_down_and_a_yes_ends_the_question(
    browser: Client, stars: App, install: Installation, dana: User
) -> None:
    approve(stars, "ALL", data_countries=["DE", "US"])
    answer(browser, install, "decline")
    page = words(browser, page_of(install, "activity/"))
    assert "Not agreed to: Your data is kept in Germany and United States, for 30 days." in page
    portal = words(signed_in(dana), "/portal/apps/stars/versions/")
    assert "Some stores haven't agreed to where their data goes 1 of 1 installation hasn't." in portal
    assert "Some stores don't run everything yet" not in portal

    answer(browser, install, "approve")
    assert question(browser, install) == ""
    assert "Additional permissions approved" in words(browser, page_of(install, "activity/"))
    assert "haven't agreed" not in words(signed_in(dana), "/portal/apps/stars/versions/")


def test_install_on_the_consent_page_is_a_yes(stars: App, install: Installation, mira: User) -> None:
    app = approve(stars, "ALL", data_countries=["DE", "US"])
    page = words(signed_in(mira), address(app))
    assert "Loyalty Stars asks for your agreement on" in page
    assert "Germany and United States, for 30 days. It is also processed by: Mailer Ltd. New" in page
    consenting(mira).post(
        address(app), {"answer": "install", "scopes": "read_orders", "version": str(app.approved_version_id)}
    )
    install.refresh_from_db()
    assert install.agreed_version == app.approved_version
    assert question(signed_in(mira), install) == ""


def test_new_parts_wait_and_data_does_not(browser: Client, stars: App, install: Installation) -> None:
    """A question about both is one question."""
    save_manifest(app=stars, developer=stars.developer, document={"embeds": [script()]})
    approve(stars, "ALL", data_countries=["DE", "US"])
    asked = question(browser, install)
    assert "asks for more permissions" in asked
    assert "Visit counter" in asked
    assert "Germany and United States" in asked
    assert "the new parts stay off" in asked
    answer(browser, install, "approve")
    assert question(browser, install) == ""


def test_countries_taken_out_and_put_elsewhere_ask(
    browser: Client, stars: App, install: Installation
) -> None:
    """A version that says nothing doesn't make stores forget what they agreed to."""
    stars = approve(stars, "ALL", data_countries=[], data_retention_days=None, data_processors="")
    assert question(browser, install) == ""
    approve(stars, "ALL", data_countries=["US"])
    assert "United States" in question(browser, install)


def test_version_that_is_taken_back_asks_nobody_any_more(
    browser: Client, stars: App, install: Installation
) -> None:
    stars = approve(stars, "ALL", data_countries=["DE", "US"])
    assert question(browser, install)
    releases.take_back(app=stars, by=stars.developer)
    follow_all()
    assert question(browser, install) == ""


def test_store_outside_a_step_is_not_asked(browser: Client, stars: App, mira: User) -> None:
    """The version reaches one of a hundred stores; only that one is asked."""
    stores = [installed(stars, factories.business(mira)) for _ in range(3)]
    stars = approve(stars, "STEPS", data_countries=["DE", "US"])
    asked = [each for each in stores if question(browser, each)]
    assert len(asked) == 1
    asked[0].refresh_from_db()
    assert asked[0].runs == stars.rolling_version


@pytest.mark.spec(SECTION, "Stores are asked as scopes' growth asks: by mail, too")
def test_owner_is_mailed_once(stars: App, install: Installation) -> None:
    stars = approve(stars, "ALL", data_countries=["DE", "US"])
    notify_merchants()
    approve(stars, "ALL", name="Stars")
    notify_merchants()
    assert Mail.objects.filter(about_id=install.pk).count() == 1


def test_words_of_the_mail(stars: App, install: Installation) -> None:
    approve(stars, "ALL", data_countries=["DE", "US"])
    notify_merchants()
    send_due()
    (letter,) = [each for each in mail.outbox if "where your data goes" in each.subject]
    assert "Your data is kept in Germany and United States, for 30 days." in letter.body
    assert "whatever you answer" in " ".join(letter.body.split())


@pytest.mark.parametrize(
    ("agreed", "now", "asks"),
    [
        (DataTerms(), DataTerms(["US"], 30, "A"), False),
        (DataTerms(processors="A"), DataTerms(["US"], None, "A"), False),
        (DataTerms(processors="A"), DataTerms(processors="B"), True),
        (DataTerms(["US"]), DataTerms(["US"], None, "A"), True),
        (DataTerms(["US"], 0), DataTerms(["US"], 1), True),
        (DataTerms(["US"], None), DataTerms(["US"], 3650), False),
        (DataTerms(["US", "DE"], 30, "A"), DataTerms(["DE"], 30), False),
    ],
)
def test_what_asks(agreed: DataTerms, now: DataTerms, asks: bool) -> None:
    assert now.asks_beyond(agreed) == asks
