"""Names that could pass for the platform's or for another app's."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Business, User
from accounts.services import create_reviewer, profile
from common.text.lookalikes import looks_like
from conformance.enums import Outcome
from developers.review.checks import name as name_check
from developers.review.risks import assess, risks_of
from extensions.submission import submit_app
from marketplace import rules
from marketplace.models import App
from marketplace.services import reviews
from tests import factories
from tests.accounts.api import post
from tests.clients import Api, api_of
from tests.developers.review.reviewing import client_of
from tests.installations.oauth_client import address
from tests.installations.oauth_client import browser as consenting
from tests.merchants.pages import installed, listed_app
from tests.pages import signed_in, text_of


@pytest.fixture
def api(dana: User) -> Api:
    return api_of(dana)


NAMES = "Contract 3 OAuth"


@pytest.mark.parametrize(
    ("name", "other", "alike"),
    [
        ("Order Bell", "order-bell", True),
        ("Order Bell", "0rder BeII", True),
        ("Order Bell", "Оrdеr Веll", True),  # with five Cyrillic letters
        ("Modern Café", "Modem Cafe", True),
        ("Order Bell", "𝐎𝐫𝐝𝐞𝐫 𝐁𝐞𝐥𝐥", True),
        ("INVENTORY", "Inventory", True),
        ("Order Bell", "Order Bells", False),
        ("Mail", "Mall", False),
        ("東京", "京東", False),
        ("✨", "🔔", False),
    ],
)
def test_lookalikes(name: str, other: str, alike: bool) -> None:
    assert looks_like(name, other) == looks_like(other, name) == alike


BODY: dict[str, Any] = {
    "slug": "bell", "description": "Rings.", "category": "other", "scopes": ["read_orders"],
    "redirectUrl": "https://bell.example.com/callback",
}  # fmt: skip
RESERVED = ["Extension Platform", "Ехtеnsion-PIatform Support", "the platform"]
DISGUISED = ["Ordеr Bell", "Order\u200bBell", "Order\u202eBell"]
PLAIN = ["Extension Cords", "Order Bell", "Söhne & Müller", "Колокол", "Toko 東京", "👩‍💻 Ωmega"]


@pytest.mark.spec(NAMES, "An app's name can't pass for the platform's, or hide what it says")
@pytest.mark.parametrize("name", RESERVED + DISGUISED)
def test_misleading_names_of_apps_are_refused(api: Api, app: App, name: str) -> None:
    for response in (
        api("post", "/developer/apps", BODY | {"name": name}),
        api("patch", f"/developer/apps/{app.pk}", {"name": name}),
    ):
        assert response.status_code == 400
        assert [detail["field"] for detail in response.json()["details"]] == ["name"]
    app.name = name  # entered before there was this rule
    app.save()
    submitted = api("post", f"/developer/apps/{app.pk}/submit", {})
    assert submitted.status_code == 400, submitted.content
    assert [detail["field"] for detail in submitted.json()["details"]] == ["name"]


@pytest.mark.parametrize("name", PLAIN)
def test_names_in_any_language_are_accepted(api: Api, name: str) -> None:
    assert api("post", "/developer/apps", BODY | {"name": name}).status_code == 201


def test_name_that_an_app_had_before_the_rule_stays(api: Api, dana: User, app: App) -> None:
    app.name = "Help Center"
    app.save(update_fields=["name"])
    same = {"name": "Help Center", "description": "Answers what customers of your store ask most often."}
    assert api("patch", f"/developer/apps/{app.pk}", same).status_code == 200
    assert api("patch", f"/developer/apps/{app.pk}", {"name": "Help Desk"}).status_code == 400
    app.refresh_from_db()
    assert [each["field"] for each in rules.incomplete(app)] == ["name"], "no reviewer has seen it"
    factories.approve(app)
    assert rules.incomplete(app) == []


@pytest.mark.django_db
@pytest.mark.spec(NAMES, "A developer's name can't pass for the platform's")
def test_misleading_names_of_developers_are_refused(client: Client) -> None:
    account = {"email": "dev@example.com", "password": "a-long-passphrase", "role": "DEVELOPER"}
    refused = post(client, "/auth/register", account | {"name": "Extension Platform"})
    assert (refused.status_code, refused.json()["details"][0]["field"]) == (400, "name")


@pytest.mark.spec(
    NAMES, "A name that looks like another developer's listed app is shown to both in the review"
)
def test_lookalike_of_a_listed_app_is_flagged(dana: User, sam: User) -> None:
    factories.approve(factories.app(dana, name="Order Bell"))
    own = factories.app(dana, name="Order-Bell")
    other = factories.app(sam, name="0rder Bell", slug="bell")
    page = text_of(signed_in(sam).get("/portal/apps/bell/review/submit/"))
    assert "Dana has a listed app called <bdi>Order Bell</bdi>." in page
    [found] = name_check(other)
    assert (found.outcome, "Order Bell, a listed app by Dana" in found.text) == (Outcome.WARN, True)
    assert [each.outcome for each in name_check(own)] == [Outcome.PASS]


@pytest.mark.long
@pytest.mark.spec(
    "Contract 15 Doors", "The developer's name on consent and listing is that of the approved version"
)
def test_renamed_developer_keeps_the_approved_name_until_the_next_version(
    dana: User, mira: User, shop: Business, client: Client
) -> None:
    app = listed_app(dana, ["read_pages"], name="Order Bell")
    installation = installed(app, shop)
    merchant = signed_in(mira)
    pages = {
        f"/marketplace/{app.slug}/": client, "/marketplace/": client, address(app): consenting(mira),
        f"/merchant/apps/{installation.pk}/": merchant,
    }  # fmt: skip

    def shown() -> set[str]:
        found = {path: text_of(browser.get(path)) for path, browser in pages.items()}
        names = {
            name for name in ("Dana", "Stripe Payments Europe") for page in found.values() if name in page
        }
        assert all(name in page for name in names for page in found.values())
        return names

    profile.rename(user=dana, name="Stripe Payments Europe")
    assert shown() == {"Dana"}
    assert client.get("/marketplace/?q=Stripe+Payments").text.count("Order Bell") == 0

    submission = submit_app(app=app, developer=dana)
    profile.rename(user=dana, name="Somebody Else")
    submission.refresh_from_db()
    desk = text_of(
        client_of(create_reviewer(email="desk@example.com", name="Rae Ito")).get(
            f"/admin/marketplace/submission/{submission.pk}/change/"
        )
    )
    assert "Developer’s name" in desk
    assert "Stripe Payments Europe" in desk
    assert 'by <strong dir="auto">Stripe Payments Europe</strong>' in desk
    reviews.approve(submission=submission, reviewer=factories.reviewer())
    assert shown() == {"Stripe Payments Europe"}


@pytest.mark.spec(
    NAMES, "A developer's name that looks like another's with a listed app is flagged to reviewers"
)
def test_lookalike_of_a_developer_is_flagged(dana: User, sam: User) -> None:
    profile.rename(user=dana, name="Bell Works")
    profile.rename(user=sam, name="BeII Works")
    factories.approve(factories.app(dana, name="Order Bell"))
    own = factories.app(dana, name="Chimes")
    other = factories.app(sam, name="Quotes", slug="quotes")
    page = text_of(signed_in(sam).get("/portal/apps/quotes/review/submit/"))
    assert "A developer called <bdi>Bell Works</bdi> has a listed app." in page
    warnings = [each.text for each in name_check(other) if each.outcome == Outcome.WARN]
    assert warnings == ["The developer's name looks like Bell Works, another developer with a listed app."]
    assert not [each for each in name_check(own) if each.outcome == Outcome.WARN]
    submission = factories.submit(other)
    assess(submission)
    assert "Developer’s name looks like another’s" in [each.text for each in risks_of(submission)]
