"""Consent and exchange: who may install what on which business, and what the app gets."""

import base64
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.enums import Role
from accounts.models import Business, User
from accounts.services.staff import STAFF
from installations import services
from installations.enums import HistoryKind
from installations.models import Grant, Installation
from installations.queries import MAY_REVIEW
from installations.services import approval, authorization
from installations.services.approval import follow
from marketplace.enums import AppRole
from marketplace.models import App
from marketplace.scopes import SCOPES
from marketplace.services import releases
from marketplace.services.apps import update_app
from marketplace.services.locks import lock_app
from marketplace.services.members import MEMBERS
from tests import approvals, factories
from tests.installations.oauth_client import (
    PKCE,
    SECRET,
    VERIFIER,
    address,
    answer,
    basic,
    browser,
    call,
    code_for,
    exchange,
    post,
    sent_to,
)
from tests.state import unchanged
from webhooks.enums import ErasureState
from webhooks.models import Erasure, Webhook

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
TWO = ["read_products", "read_orders"]


def install(user: User, app: App, **parameters: object) -> dict:
    response = exchange(app, code_for(user, app, **parameters))
    assert response.status_code == 200, response.content
    return dict(response.json())


def history_of(installation: Installation) -> list[str]:
    return list(installation.history.order_by("at", "id").values_list("kind", flat=True))


# --- A merchant installs ---------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.spec(
    "States/Installation",
    "Merchant completes OAuth install: installation created, token issued, app-defined webhooks created",
)
@pytest.mark.spec("Contract 3 OAuth", "The token answer's fields; no refresh_token, no expiry")
def test_merchant_installs_a_listed_app(app: App, mira: User, shop: Business) -> None:
    factories.approve(app, webhook_url="https://app.example.com/hooks")
    where, query = sent_to(answer(mira, app))
    assert (where, query["state"]) == (app.redirect_url, "xyz")
    assert not Installation.objects.exists()  # the consent alone installs nothing
    response = exchange(app, query["code"])
    installation = Installation.objects.get()
    body = response.json()
    token, secret = body.pop("access_token"), body.pop("webhookSecret")
    assert body == {
        "token_type": "Bearer",
        "scope": " ".join(SCOPES),
        "installationId": str(installation.id),
        "businessId": str(shop.id),
        "isTestInstall": False,
    }
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "no-store"
    assert call(token).json()["installationId"] == str(installation.id)
    assert (installation.business, installation.installed_by) == (shop, mira)
    webhook = Webhook.objects.get(installation=installation)
    assert (webhook.is_app_defined, webhook.url, webhook.is_active) == (
        True,
        "https://app.example.com/hooks",
        True,
    )
    assert history_of(installation) == [HistoryKind.INSTALLED]
    assert secret == installation.webhook_secret


@pytest.mark.spec("Credentials", "Tokens are fbat_, webhook secrets whsec_ and base64 of 32 bytes")
def test_credentials_have_their_prefixes_and_only_a_digest_is_kept(listed: App, mira: User) -> None:
    body = install(mira, listed)
    assert body["access_token"].startswith("fbat_")
    assert not body["access_token"].startswith("fbat_test_")
    prefix, _, rest = body["webhookSecret"].rpartition("_")
    assert (prefix, len(base64.b64decode(rest, validate=True))) == ("whsec", 32)
    stored = Installation.objects.values_list("token_digest", "token_hint").get()
    assert body["access_token"] not in stored


def test_nothing_secret_is_logged(listed: App, mira: User, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    code = code_for(mira, listed, **PKCE)
    body = exchange(listed, code, code_verifier=VERIFIER).json()
    exchange(listed, code, code_verifier=VERIFIER)
    said = "\n".join(record.getMessage() for record in caplog.records if record.name != "django.db.backends")
    for secret in (code, VERIFIER, body["access_token"], body["webhookSecret"], basic(listed)[6:]):
        assert secret not in said


def test_merchant_with_several_businesses_chooses(listed: App, mira: User, shop: Business) -> None:
    second = factories.business(mira, name="Second shop")
    page = browser(mira).get(address(listed)).content.decode()
    assert f'<option value="{shop.pk}"' in page
    assert f'<option value="{second.pk}"' in page
    assert install(mira, listed, business=second)["businessId"] == str(second.id)


def test_business_id_leaves_no_choice(listed: App, mira: User, shop: Business) -> None:
    second = factories.business(mira, name="Second shop")
    page = browser(mira).get(address(listed, business_id=str(second.pk)))
    assert b"<select" not in page.content
    assert install(mira, listed, business_id=str(second.pk))["businessId"] == str(second.id)


def test_business_of_another_in_the_answer_refused(
    listed: App, mira: User, shop: Business, sandbox: Business
) -> None:
    factories.business(mira, name="Second shop")
    response = answer(mira, listed, business=sandbox)
    assert response.status_code == 422
    assert b"Select a valid choice" in response.content
    assert not Grant.objects.exists()


@pytest.mark.long
def test_redirect_uri_may_be_left_out_on_both_sides(listed: App, mira: User) -> None:
    where, query = sent_to(answer(mira, listed, redirect_uri=None))
    assert where == listed.redirect_url
    assert exchange(listed, query["code"], redirect_uri="https://evil.example.com/").status_code == 400
    assert exchange(listed, query["code"], redirect_uri=None).status_code == 200
    code = code_for(mira, listed, redirect_uri=None)
    assert exchange(listed, code, redirect_uri=listed.redirect_url).status_code == 200


def test_parameter_without_a_value_counts_as_left_out(listed: App, mira: User) -> None:
    code = code_for(mira, listed, redirect_uri="", scope="", state="")
    response = exchange(listed, code, redirect_uri="", code_verifier="")
    assert response.json()["scope"] == " ".join(SCOPES)


def test_unknown_parameters_ignored(listed: App, mira: User) -> None:
    more = {"prompt": "none", "approval_prompt": "auto", "nonce": "n" * 300, "claims": "{", "resource": "x"}
    code = code_for(mira, listed, **more)
    assert exchange(listed, code, resource="not a url").status_code == 200
    assert Installation.objects.get().effective_scopes == list(SCOPES)


@pytest.mark.long
def test_consent_is_asked_for_each_time(listed: App, mira: User) -> None:
    install(mira, listed)
    page = browser(mira).get(address(listed, approval_prompt="auto"))
    assert page.status_code == 200
    assert b"Install" in page.content


def test_credentials_in_the_body_accepted(listed: App, mira: User) -> None:
    code = code_for(mira, listed)
    response = exchange(
        listed, code, authorization=None, client_id=listed.client_id, client_secret="fbcs_of-the-test"
    )
    assert response.status_code == 200
    assert call(response.json()["access_token"]).status_code == 200


# --- Scopes ------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.spec("Contract 3 OAuth", "scope asks for a subset; the default is all")
def test_scope_narrows_what_is_granted(listed: App, mira: User) -> None:
    body = install(mira, listed, scope="read_orders read_products read_orders")
    assert body["scope"] == "read_products read_orders"
    assert call(body["access_token"], "/app-api/orders").status_code == 200
    assert call(body["access_token"]).json()["scopes"] == TWO
    assert Installation.objects.get().granted_scopes == TWO
    assert install(mira, listed, scope=" ".join(SCOPES))["scope"] == " ".join(SCOPES)


def test_merchant_grants_the_approved_scopes_not_the_working_copys(app: App, mira: User) -> None:
    factories.approve(app, scopes=TWO)
    assert install(mira, app)["scope"] == "read_products read_orders"
    error = sent_to(answer(mira, app, scope="read_reviews"))[1]
    assert (error["error"], error["state"]) == ("invalid_scope", "xyz")


def test_own_test_install_narrowed_by_scope_stays_narrow(listed: App, dana: User) -> None:
    body = install(dana, listed, scope="read_products")
    assert call(body["access_token"]).json()["needsReConsent"] is False
    assert Installation.objects.get().granted_scopes == ["read_products"]
    assert call(body["access_token"], "/app-api/orders").status_code == 403
    update_app(app=listed, changes={"scopes": ["read_orders", "read_products"]})
    assert call(body["access_token"], "/app-api/orders").status_code == 403
    assert call(body["access_token"], "/app-api/products").status_code == 200


@pytest.mark.long
def test_own_test_install_without_scope_follows_the_working_copy(app: App, dana: User) -> None:
    update_app(app=app, changes={"scopes": ["read_products"]})
    body = install(dana, app)
    assert call(body["access_token"], "/app-api/orders").status_code == 403
    update_app(app=app, changes={"scopes": TWO})
    assert call(body["access_token"], "/app-api/orders").status_code == 200


def test_nobody_agrees_to_scopes_unseen(app: App, mira: User) -> None:
    factories.approve(app, scopes=["read_products"])
    client = browser(mira)
    client.get(address(app))
    factories.approve(app, scopes=TWO)
    response = client.post(address(app), {"scopes": "read_products", "answer": "install"})
    assert response.status_code == 422
    assert b"changed while this page was open" in response.content
    assert not Grant.objects.exists()
    response = client.post(address(app), {"scopes": " ".join(TWO), "answer": "install"})
    assert response.status_code == 302


@pytest.mark.long
@pytest.mark.spec(
    "Contract 2 Reach", "No merchant agrees to scripts, widgets and hooks that the page did not show"
)
def test_nobody_agrees_to_a_version_unseen(app: App, mira: User) -> None:
    factories.approve(app)
    client = browser(mira)
    page = client.get(address(app)).context["page"]
    answer = {"scopes": " ".join(page.scopes), "version": page.version, "answer": "install"}
    assert f'name="version" value="{app.approved_version_id}"' in client.get(address(app)).content.decode()
    newer = factories.approve(app)  # the same scopes
    response = client.post(address(app), answer)
    assert response.status_code == 422
    assert b"changed while this page was open" in response.content
    assert not Grant.objects.exists()
    assert client.post(address(app), answer | {"version": str(newer.pk)}).status_code == 302


@pytest.mark.long
def test_approval_between_consent_and_exchange_needs_consent(app: App, mira: User) -> None:
    factories.approve(app, scopes=["read_products"])
    code = code_for(mira, app)
    factories.approve(app, scopes=TWO)
    body = exchange(app, code).json()
    assert body["scope"] == "read_products"
    assert call(body["access_token"]).json()["needsReConsent"] is True


@pytest.mark.long
def test_approval_that_adds_no_scopes_needs_no_consent_to_those_left_out(app: App, mira: User) -> None:
    """Its scripts, widgets and hooks weren't shown."""
    shown = factories.approve(app, scopes=TWO)
    code = code_for(mira, app, scope="read_products")
    factories.approve(app, scopes=TWO)
    token = exchange(app, code).json()["access_token"]
    assert call(token).json()["needsReConsent"] is False
    assert Installation.objects.get().agreed_version == shown


@pytest.mark.long
@pytest.mark.spec(
    "Contract 3 OAuth", "An approval that adds scopes sets needsReConsent on production installs"
)
def test_narrowed_consent_that_an_approval_overtook_is_still_asked_once_that_is_followed(
    app: App, mira: User
) -> None:
    """A scope that the approval added was not there to be left out; one that the consent left out stays so."""
    factories.approve(app, scopes=TWO)
    code = code_for(mira, app, scope="read_products")
    version = factories.approve(app, scopes=[*TWO, "read_pages"])
    token = exchange(app, code).json()["access_token"]
    assert call(token).json()["needsReConsent"] is True
    follow(version=version)
    assert call(token).json()["needsReConsent"] is True
    assert Installation.objects.with_app().get().asked_scopes == ["read_pages"]


@pytest.mark.long
def test_consent_again_to_the_same_scopes_leaves_out_what_was_added_meanwhile(app: App, mira: User) -> None:
    """Although an approval that no worker has followed yet came between the two."""
    factories.approve(app, scopes=TWO)
    token = install(mira, app, scope="read_products")["access_token"]
    version = factories.approve(app, scopes=[*TWO, "read_pages"])
    code_for(mira, app, scope="read_products")
    follow(version=version)
    assert call(token).json()["needsReConsent"] is False


@pytest.mark.long
@pytest.mark.spec(
    "Contract 10 Releases",
    "New installs and the listing have the new version, and the version before while HALTED",
)
def test_release_that_is_halted_between_consent_and_exchange_gets_no_store(
    app: App, mira: User, shop: Business
) -> None:
    factories.approve(app)
    factories.installation(app, factories.business(mira))
    code = code_for(mira, approvals.approve(app, "STEPS"), business=shop)
    releases.halt(app=app)
    exchange(app, code)
    assert not Installation.objects.with_app().get(business=shop).is_in_release


@pytest.mark.long
def test_scope_taken_away_between_consent_and_exchange_is_not_granted(app: App, mira: User) -> None:
    """Nor kept by a consent to the next version, before a worker has followed it."""
    factories.approve(app, scopes=TWO)
    code = code_for(mira, app)
    factories.approve(app, scopes=["read_products"])
    assert exchange(app, code).json()["scope"] == "read_products"
    assert Installation.objects.get().granted_scopes == ["read_products"]
    factories.approve(app, scopes=["read_orders"])
    code_for(mira, app)
    assert Installation.objects.get().granted_scopes == ["read_orders"]


# --- Roles -------------------------------------------------------------------------------------------


@pytest.mark.spec(
    "Contract 3 OAuth", "A developer installs their own app in any status on their sandbox, for testing"
)
@pytest.mark.parametrize("status", ["DRAFT", "PENDING_REVIEW", "APPROVED"])
def test_developer_installs_the_own_app_in_any_status(
    app: App, dana: User, sandbox: Business, status: str
) -> None:
    App.objects.filter(pk=app.pk).update(status=status)
    body = install(dana, app)
    assert (body["businessId"], body["isTestInstall"]) == (str(sandbox.id), True)
    assert body["access_token"].startswith("fbat_test_")
    assert body["webhookSecret"].startswith("whsec_test_")


@pytest.mark.long
def test_developer_installs_the_listed_app_of_another_on_the_own_sandbox(app: App, sam: User) -> None:
    factories.approve(app, scopes=TWO)
    body = install(sam, app)
    assert (body["businessId"], body["isTestInstall"]) == (str(Business.objects.get(owner=sam).id), True)
    assert body["scope"] == "read_products read_orders"
    factories.approve(app, scopes=["read_products"])
    assert call(body["access_token"], "/app-api/orders").status_code == 403


@pytest.mark.parametrize("who", ["mira", "sam", "reviewer"])
def test_unlisted_app_is_a_403_page_for_all_but_its_developer(
    app: App, who: str, mira: User, sam: User, db: None
) -> None:
    user = {"mira": mira, "sam": sam}.get(who) or User.objects.create_user(
        "r@example.com", role=Role.REVIEWER
    )
    response = browser(user).get(address(app))
    assert response.status_code == 403
    assert response["Content-Type"].startswith("text/html")
    assert (b"The app is not in the marketplace" in response.content) == (who != "reviewer")
    assert browser(user).post(address(app), {"answer": "install"}).status_code == 403


@pytest.mark.spec("Contract 9 OAuth", "A wrong role is a 403 page")
@pytest.mark.parametrize("lacks", ["a submission", "the right to review", "both"])
def test_reviewer_can_not_install(listed: App, lacks: str) -> None:
    reviewer = User.objects.create_user("r@example.com", name="Rae", role=Role.REVIEWER, is_staff=True)
    factories.business(reviewer, is_sandbox=True)
    if lacks == "a submission":
        factories.member(listed, reviewer)
        reviewer.user_permissions.add(Permission.objects.get(codename=MAY_REVIEW.partition(".")[2]))
    elif lacks == "the right to review":
        factories.submit(listed)
    response = browser(reviewer).get(address(listed))
    assert response.status_code == 403
    assert b"Only merchants and developers can install apps." in response.content
    assert b"Use another account" in response.content


def test_reviewer_installs_what_is_in_review_for_a_test(app: App) -> None:
    reviewer = factories.reviewer(is_superuser=True)
    factories.business(reviewer, is_sandbox=True)
    factories.submit(app)
    assert install(reviewer, app)["isTestInstall"] is True
    assert Installation.objects.get().is_review


@pytest.mark.long
@pytest.mark.parametrize("who", ["mira", "dana"])
def test_suspended_app_is_a_403_page_and_exchanges_nothing(
    listed: App, who: str, mira: User, dana: User
) -> None:
    user = {"mira": mira, "dana": dana}[who]
    code = code_for(user, listed)
    App.objects.filter(pk=listed.pk).update(suspended_at=NOW)
    response = browser(user).get(address(listed))
    assert response.status_code == 403
    assert b"suspended" in response.content
    response = exchange(listed, code)
    assert (response.status_code, response.json()["error"]) == (401, "invalid_client")
    assert "suspended" in response.json()["error_description"]
    assert not Installation.objects.exists()


@pytest.mark.spec("Contract 3 OAuth", "Every redirect back to an app carries iss (RFC 9207)")
@pytest.mark.parametrize("pressed", ["install", "cancel"])
def test_app_is_told_who_answered(listed: App, mira: User, pressed: str) -> None:
    wrong = sent_to(browser(mira).get(address(listed, scope="read_everything")))[1]
    for query in (sent_to(answer(mira, listed, pressed))[1], wrong):
        assert query["iss"] == "http://testserver"


@pytest.mark.spec("Contract 9 OAuth", "A foreign business_id redirects with access_denied")
@pytest.mark.parametrize("business_id", ["another's", "unknown", "no id at all"])
def test_foreign_business_id_is_access_denied(
    listed: App, mira: User, dana: User, sandbox: Business, business_id: str
) -> None:
    chosen = {"another's": str(sandbox.pk), "unknown": "0" * 32}.get(business_id, business_id)
    where, query = sent_to(browser(mira).get(address(listed, business_id=chosen)))
    assert where == listed.redirect_url
    assert (query["error"], query["state"]) == ("access_denied", "xyz")


def test_developer_can_not_choose_another_business(listed: App, dana: User, shop: Business) -> None:
    assert (
        sent_to(browser(dana).get(address(listed, business_id=str(shop.pk))))[1]["error"] == "access_denied"
    )


@pytest.mark.long
@pytest.mark.spec("Contract 3 OAuth", "The Redirect URL insisted on is the one of the role")
def test_redirect_url_is_that_of_the_role(app: App, dana: User, mira: User, sam: User) -> None:
    live, draft = "https://live.example.com/cb", "https://draft.example.com/cb"
    factories.approve(app, redirect_url=live)
    App.objects.filter(pk=app.pk).update(redirect_url=draft)
    for user, url, other in ((dana, draft, live), (mira, live, draft), (sam, live, draft)):
        assert sent_to(answer(user, app, redirect_uri=url))[0] == url
        assert sent_to(answer(user, app, redirect_uri=None))[0] == url
        assert browser(user).get(address(app, redirect_uri=other)).status_code == 400


def test_signed_out_signs_in_first_and_comes_back(client: Client, listed: App, mira: User) -> None:
    path = address(listed)
    response = client.get(path)
    assert response.status_code == 302
    assert response["Location"].startswith("/accounts/login/?next=/oauth/authorize%3F")
    page = client.get(response["Location"])
    assert b"/accounts/register/?next=/oauth/authorize%3F" in page.content
    credentials = {"email": mira.email, "password": factories.PASSWORD, "next": path}
    response = client.post(response["Location"], credentials)
    assert response["Location"] == path
    assert client.get(path).status_code == 200


def test_closed_account_exchanges_nothing(listed: App, mira: User) -> None:
    code = code_for(mira, listed)
    User.objects.filter(pk=mira.pk).update(is_active=False)
    assert exchange(listed, code).json()["error"] == "invalid_grant"


# --- Cancel ------------------------------------------------------------------------------------------


@pytest.mark.spec("Contract 7 Pages", "Cancel on the consent page returns access_denied with the state")
def test_cancel_returns_access_denied(listed: App, mira: User) -> None:
    where, query = sent_to(answer(mira, listed, answer="cancel"))
    assert where == listed.redirect_url
    assert (query["error"], query["state"]) == ("access_denied", "xyz")
    assert not Grant.objects.exists()


def test_answer_without_the_pages_token_refused(listed: App, mira: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(mira)
    response = client.post(address(listed), {"answer": "install", "scopes": " ".join(SCOPES)})
    assert response.status_code == 403
    assert not Grant.objects.exists()


@pytest.mark.parametrize("path", ["page", "problem"])
def test_page_is_not_framed_and_not_kept(listed: App, mira: User, path: str) -> None:
    response = browser(mira).get(address(listed) if path == "page" else "/oauth/authorize?client_id=x")
    assert response["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
    assert "no-store" in response["Cache-Control"]


def test_browsers_go_on_to_an_app_without_tls_only_where_that_is_its_redirect_url(
    app: App, dana: User
) -> None:
    """An app under development has one on the developer's own machine."""
    for redirect_url, goes_on in ((app.redirect_url, "https:"), ("http://localhost:3000/cb", "https: http:")):
        App.objects.update(redirect_url=redirect_url)
        response = browser(dana).get(address(app, redirect_uri=redirect_url))
        assert f"form-action 'self' {goes_on};" in response["Content-Security-Policy"] + ";"


# --- Installed already -------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.spec("Contract 3 OAuth", "Consenting again takes effect at the consent, on the existing token")
def test_consent_while_installed_takes_effect_at_once(app: App, mira: User) -> None:
    factories.approve(app, scopes=["read_products"])
    first = install(mira, app)
    factories.approve(app, scopes=TWO)
    Installation.objects.update(needs_reconsent=True)
    code = code_for(mira, app)
    assert call(first["access_token"], "/app-api/orders").status_code == 200
    assert call(first["access_token"]).json()["needsReConsent"] is False

    second = exchange(app, code).json()
    assert second["scope"] == "read_products read_orders"
    assert second["installationId"] == first["installationId"]
    assert second["webhookSecret"] == first["webhookSecret"]
    assert call(first["access_token"]).status_code == 401
    assert call(second["access_token"]).status_code == 200
    assert history_of(Installation.objects.get()) == [HistoryKind.INSTALLED, HistoryKind.AGREED]


@pytest.mark.long
@pytest.mark.parametrize(
    ("held", "scope", "title", "sentence"),
    [
        (
            ["read_products"],
            None,
            "Loyalty Stars asks for more permissions",
            "adds the new permissions below",
        ),
        (TWO, None, "Loyalty Stars is already installed", "</strong> reconnects it, with a new access token"),
        (TWO, "read_products", "Loyalty Stars is already installed", "removes the permissions"),
    ],
)
def test_page_of_an_installed_app_says_what_changes(
    app: App, mira: User, shop: Business, held: list[str], scope: str | None, title: str, sentence: str
) -> None:
    factories.approve(app, name="Loyalty Stars", scopes=TWO)
    factories.installation(app, shop, granted_scopes=held)
    page = " ".join(browser(mira).get(address(app, scope=scope)).text.split())
    assert f"<title>{title} " in page
    assert "Installed since <time" in page
    assert sentence in page
    assert "Install Loyalty Stars" not in page
    assert ">Install</button>" in page


def test_page_of_an_installed_app_reads_the_installation_once(app: App, mira: User, shop: Business) -> None:
    factories.approve(app, scopes=TWO)
    factories.installation(app, shop, granted_scopes=["read_products"])
    client = browser(mira)
    with CaptureQueriesContext(connection) as captured:
        client.get(address(app))
    assert (
        sum('ORDER BY "installations_installation"."installed_at"' in each["sql"] for each in captured) == 1
    )


@pytest.mark.long
def test_page_tells_why_more_is_asked_for_after_later_approvals(app: App, mira: User, shop: Business) -> None:
    factories.approve(app, scopes=["read_products"])
    factories.installation(app, shop, granted_scopes=["read_products"])
    factories.approve(app, scopes=TWO, scope_reason="For the delivery labels.")
    factories.approve(app, scopes=TWO, name="Another name", scope_reason="")
    assert b"For the delivery labels." in browser(mira).get(address(app)).content


@pytest.mark.long
def test_consent_to_less_while_installed_takes_scopes_away(listed: App, mira: User) -> None:
    token = install(mira, listed)["access_token"]
    code_for(mira, listed, scope="read_products")
    assert call(token, "/app-api/orders").status_code == 403
    assert call(token, "/app-api/products").status_code == 200
    assert Installation.objects.get().granted_scopes == ["read_products"]


@pytest.mark.long
def test_older_consent_exchanged_later_does_not_bring_its_scopes_back(listed: App, mira: User) -> None:
    older, newer = code_for(mira, listed), code_for(mira, listed, scope="read_products")
    assert exchange(listed, newer).json()["scope"] == "read_products"
    assert exchange(listed, older).json()["scope"] == "read_products"


@pytest.mark.long
def test_newer_consent_exchanged_later_brings_its_scopes(listed: App, mira: User) -> None:
    older, newer = code_for(mira, listed), code_for(mira, listed, scope="read_products")
    assert exchange(listed, older).json()["scope"] == " ".join(SCOPES)
    assert exchange(listed, newer).json()["scope"] == "read_products"
    assert Installation.objects.count() == 1


@pytest.mark.long
def test_same_app_in_another_store_and_another_app_in_the_same_store_change_nothing(
    listed: App, mira: User, sam: User, shop: Business
) -> None:
    other = factories.app(sam, client_secret=SECRET)
    factories.approve(other)
    code = code_for(mira, listed)
    second = factories.business(mira)
    beside = [
        install(mira, other, business=shop, scope="read_pages"),
        install(mira, listed, business=second, scope="read_pages"),
    ]
    own = exchange(listed, code).json()
    code = code_for(mira, listed, business=shop)
    assert exchange(listed, code).json()["installationId"] == own["installationId"]
    assert [call(each["access_token"]).json()["scopes"] for each in beside] == [["read_pages"]] * 2

    code = code_for(mira, listed, business=shop)
    for each in beside:
        services.uninstall(installation=Installation.objects.get(pk=each["installationId"]))
    assert exchange(listed, code).status_code == 200


def test_converted_install_becomes_a_test_install_at_the_developers_consent(
    app: App, dana: User, sandbox: Business
) -> None:
    services.test_install(app=app, developer=dana)
    factories.approve(app)
    Installation.objects.update(is_test=False)
    code = code_for(dana, app)
    assert Installation.objects.get().is_test
    assert exchange(app, code).json()["isTestInstall"] is True


@pytest.mark.long
@pytest.mark.spec("Contract 5 Webhooks", "On the sandbox of a developer of the app: the working copy's URL")
def test_test_install_authorized_again_after_the_approval_keeps_the_working_copys_url(
    app: App, dana: User
) -> None:
    App.objects.update(webhook_url="https://app.example.com/draft")
    app.refresh_from_db()
    install(dana, app)
    factories.approve(app, webhook_url="https://app.example.com/live", scopes=TWO)
    code_for(dana, app)
    assert Webhook.objects.get().url == "https://app.example.com/draft"
    assert Installation.objects.get().agreed_version is None


@pytest.mark.long
@pytest.mark.spec("Contract 11 Members", "Each OWNER and DEVELOPER test-installs on their own sandbox")
@pytest.mark.parametrize("by_consent", [True, False])
def test_install_of_a_developer_who_joins_the_app_follows_the_working_copy(
    app: App, sam: User, by_consent: bool
) -> None:
    factories.approve(app, scopes=["read_products"])
    token = install(sam, app)["access_token"]
    factories.member(app, sam)
    assert call(token, "/app-api/orders").status_code == 403
    if by_consent:
        code_for(sam, app)
    else:
        token = services.test_install(app=app, developer=sam).access_token
    assert call(token, "/app-api/orders").status_code == 200


def test_install_for_a_check_is_not_a_developers_own(app: App, dana: User) -> None:
    store = factories.business(dana, is_sandbox=True, expires_at=timezone.now() + timedelta(hours=1))
    grant = authorization.agree(app=app, store=store, redirect_uri=app.redirect_url)
    exchange(app, grant.code)
    installation = Installation.objects.get(business=store)
    assert (installation.is_review, installation.is_own) == (True, False)


@pytest.mark.long
def test_consent_counts_from_when_it_was_given(app: App, sam: User) -> None:
    """An approval converts a test install whose newest consent came before it and was exchanged after it."""
    factories.approve(app)
    first, second = code_for(sam, app), code_for(sam, app)
    exchange(app, first)
    version = factories.approve(app)
    exchange(app, second)
    approval.follow(version=version)
    assert not Installation.objects.get().is_test


@pytest.mark.long
@pytest.mark.spec("Contract 9 OAuth", "test-uninstall also ends a sandbox install made through OAuth")
def test_test_install_authorized_anew_after_the_approval_is_not_converted(app: App, dana: User) -> None:
    install(dana, app)
    version = factories.approve(app)
    assert install(dana, app)["isTestInstall"] is True
    approval.follow(version=version)
    installation = Installation.objects.get()
    assert installation.is_test
    assert history_of(installation) == [HistoryKind.INSTALLED, HistoryKind.TERMS_CHANGED]


def test_test_uninstall_ends_an_install_made_through_oauth(app: App, dana: User) -> None:
    token = install(dana, app)["access_token"]
    services.test_uninstall(app=app, developer=dana)
    assert call(token).status_code == 401
    assert not Installation.objects.get().is_active


@pytest.mark.long
def test_uninstall_takes_back_the_consents_before_it(listed: App, mira: User) -> None:
    before, again = code_for(mira, listed), code_for(mira, listed)
    exchange(listed, before)
    while_installed = code_for(mira, listed)
    services.uninstall(installation=Installation.objects.get())
    for code in (again, while_installed):
        assert exchange(listed, code).json()["error"] == "invalid_grant"
    assert not Installation.objects.active().exists()


@pytest.mark.long
@pytest.mark.spec(
    "Contract 3 OAuth", "An install after an uninstall is a new installation, and drops the erasure"
)
def test_install_after_an_uninstall_is_a_new_one_and_drops_the_erasure(app: App, mira: User) -> None:
    factories.approve(app, webhook_url="https://app.example.com/hooks")
    first = install(mira, app)
    services.uninstall(installation=Installation.objects.get())
    assert Erasure.objects.get().state == ErasureState.DUE
    page = browser(mira).get(address(app)).content.decode()
    assert "This app was uninstalled from" in page
    second = install(mira, app)
    for field in ("installationId", "access_token", "webhookSecret"):
        assert second[field] != first[field]
    assert Erasure.objects.get().state == ErasureState.CANCELLED


# --- The code ----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.spec("Contract 3 OAuth", "A code works for 60 seconds")
@pytest.mark.parametrize(("seconds", "status"), [(59, 200), (60, 400)])
def test_code_lives_for_a_minute(listed: App, mira: User, seconds: int, status: int) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        code = code_for(mira, listed)
        clock.shift(timedelta(seconds=seconds))
        assert exchange(listed, code).status_code == status
        assert Installation.objects.exists() == (status == 200)


@pytest.mark.long
def test_code_used_again_ends_only_the_token_that_it_gave(listed: App, mira: User) -> None:
    code = code_for(mira, listed)
    assert exchange(listed, code).status_code == 200
    newer = exchange(listed, code_for(mira, listed)).json()["access_token"]
    assert exchange(listed, code).json()["error"] == "invalid_grant"
    assert call(newer).status_code == 200


@pytest.mark.long
def test_code_used_again_ends_no_token_that_another_store_got_at_the_same_moment(
    listed: App, mira: User, shop: Business
) -> None:
    second = factories.business(mira)
    with time_machine.travel(NOW, tick=False):
        codes = [code_for(mira, listed, business=each) for each in (shop, second)]
        tokens = [exchange(listed, code).json()["access_token"] for code in codes]
        exchange(listed, codes[1])
    assert [call(token).status_code for token in tokens] == [200, 401]


@pytest.mark.long
def test_code_used_again_by_another_app_ends_nothing(listed: App, mira: User, sam: User) -> None:
    code = code_for(mira, listed)
    token = exchange(listed, code).json()["access_token"]
    other = factories.app(sam, client_secret="fbcs_of-the-test")
    assert exchange(other, code).json()["error"] == "invalid_grant"
    assert exchange(listed, code, authorization=basic(listed, "wrong")).json()["error"] == "invalid_client"
    assert call(token).status_code == 200


@pytest.mark.long
def test_authorizing_again_gives_a_token_after_one_was_ended(listed: App, mira: User) -> None:
    code = code_for(mira, listed)
    first = exchange(listed, code).json()
    for _ in range(2):
        exchange(listed, code)
    assert history_of(Installation.objects.get()) == [HistoryKind.INSTALLED, HistoryKind.TOKEN_ENDED]
    second = install(mira, listed)
    assert second["installationId"] == first["installationId"]
    assert call(second["access_token"]).status_code == 200


# --- Giving back, and finding the way -------------------------------------------------------------------


@pytest.mark.spec("Contract 3 OAuth", "Revoking its own token uninstalls the app")
def test_revoking_the_own_token_uninstalls(listed: App, mira: User) -> None:
    token = install(mira, listed)["access_token"]
    response = post("/oauth/revoke", {"token": token, "token_type_hint": "refresh_token"}, basic(listed))
    assert (response.status_code, response.content) == (200, b"")
    assert call(token).status_code == 401
    assert not Installation.objects.active().exists()


def test_revoking_what_is_not_ones_own_does_nothing(listed: App, mira: User, sam: User) -> None:
    token = install(mira, listed)["access_token"]
    other = factories.app(sam, client_secret="fbcs_of-the-test")
    with unchanged(Installation):
        for app, given in ((other, token), (listed, "fbat_unknown")):
            assert post("/oauth/revoke", {"token": given}, basic(app)).status_code == 200
    assert call(token).status_code == 200


@pytest.mark.parametrize("slash", ["", "/"])
def test_metadata_names_what_is_there(client: Client, slash: str) -> None:
    response = client.get(f"/.well-known/oauth-authorization-server{slash}")
    assert response.json() == {
        "issuer": "http://testserver",
        "authorization_endpoint": "http://testserver/oauth/authorize",
        "token_endpoint": "http://testserver/oauth/token",
        "revocation_endpoint": "http://testserver/oauth/revoke",
        "jwks_uri": "http://testserver/.well-known/jwks.json",
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code"],
        "authorization_response_iss_parameter_supported": True,
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "revocation_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
    }
    assert client.post("/.well-known/oauth-authorization-server").status_code == 405


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_statements_of_an_exchange(listed: App, mira: User) -> None:
    """Begin and commit; read are the app, the grant, the app again, locked, the business and the previous
    installation; written are the installation, its history, the merchant's security log and the grant. The receivers of its signal look
    for a webhook to follow the app, for an erasure to cancel and for a trial to end, and count the install. (The very first install of an
    app makes the row of that count.)"""
    install(factories.merchant("first@example.com"), listed)
    code = code_for(mira, listed)
    with CaptureQueriesContext(connection) as statements:
        assert exchange(listed, code).status_code == 200
    assert len(statements) == 15, [query["sql"][:60] for query in statements]


def test_use_that_meets_another_one_ends_nothing(listed: App, mira: User) -> None:
    code = code_for(mira, listed)
    token = exchange(listed, code).json()["access_token"]
    with authorization.code_use(code):
        assert exchange(listed, code).json()["error"] == "invalid_grant"
    assert call(token).status_code == 200
    exchange(listed, code)
    assert call(token).status_code == 401


@pytest.mark.long
@pytest.mark.spec(
    "Contract 3 OAuth", "A further use after the first was answered ends the token that it gave"
)
@pytest.mark.parametrize(("seconds", "status"), [(9, 200), (10, 200), (11, 401)])
def test_company_spares_the_token_for_ten_seconds(listed: App, mira: User, seconds: int, status: int) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        code = code_for(mira, listed)
        token = exchange(listed, code).json()["access_token"]
        clock.shift(seconds)
        with authorization.code_use(code):
            assert exchange(listed, code).json()["error"] == "invalid_grant"
        assert call(token).status_code == status


@pytest.mark.long
@pytest.mark.redis
def test_exchange_and_later_use_while_redis_is_down(listed: App, mira: User, settings: Any) -> None:
    backend = "django.core.cache.backends.redis.RedisCache"
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": "redis://127.0.0.1:1/0"}}
    code = code_for(mira, listed)
    token = exchange(listed, code).json()["access_token"]
    assert call(token).status_code == 200
    assert exchange(listed, code).json()["error"] == "invalid_grant"
    assert call(token).status_code == 401


@pytest.mark.long
@pytest.mark.spec(
    "Contract 11 Staff", "Who is removed is out within a second: a code they agreed to gives no token"
)
@pytest.mark.parametrize("end", ["removed", "orders"])
def test_code_of_a_removed_manager_is_refused(listed: App, mira: User, shop: Business, end: str) -> None:
    kim = factories.merchant_without_store("kim@example.com", name="Kim")
    row = factories.staff(shop, kim)
    assert exchange(listed, code_for(kim, listed)).status_code == 200
    code = code_for(kim, listed)
    if end == "removed":
        STAFF.remove(shop, by=mira, member_id=row.pk)
    else:
        STAFF.change_role(shop, by=mira, member_id=row.pk, role="ORDERS")
    refused = exchange(listed, code)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


def test_who_leaves_the_app_while_their_consent_waits_installs_nothing(
    app: App, sam: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the removal is rolled back with the consent, so the page is shown again."""
    membership = factories.member(app, sam)

    def wait(app: App) -> App:
        membership.delete()
        return lock_app(app)

    monkeypatch.setattr("installations.services.authorization.lock_app", wait)
    assert answer(sam, app).status_code == 422
    assert not Grant.objects.exists()


@pytest.mark.long
@pytest.mark.parametrize("end", ["removed", "viewer"])
def test_code_of_who_left_the_app_is_refused(app: App, dana: User, sam: User, end: str) -> None:
    """Also while it is in review, when reviewers install the working copy."""
    row = factories.member(app, sam)
    factories.submit(app)
    code = code_for(sam, app)
    if end == "removed":
        MEMBERS.remove(app, by=dana, member_id=row.pk)
    else:
        MEMBERS.change_role(app, by=dana, member_id=row.pk, role=AppRole.VIEWER)
    refused = exchange(app, code)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    assert not Installation.objects.exists()
