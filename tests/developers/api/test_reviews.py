"""`/developer/apps/:appId/submit`, `/submissions`, `/withdraw` (contract, sections 2 and 9)."""

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import User
from accounts.sign_in import tokens
from marketplace.models import App, Submission
from marketplace.services import reviews
from tests import factories
from tests.clients import Api, api_of

NOW = datetime(2026, 11, 20, 15, 4, 5, 123_456, tzinfo=UTC)


@pytest.fixture
def rita(db: None) -> User:
    return factories.reviewer()


def path(app: App, call: str) -> str:
    return f"/developer/apps/{app.id}/{call}"


def submit(api: Api, app: App) -> Any:
    return api("post", path(app, "submit"), {})


def status_of(api: Api, app: App) -> str:
    return str(api("get", f"/developer/apps/{app.id}").json()["status"])


# --- Who may ------------------------------------------------------------------------------------------


def test_calls_with_a_closed_account_are_401(dana: User, app: App) -> None:
    api = api_of(dana)
    User.objects.filter(pk=dana.pk).update(is_active=False)
    assert submit(api, app).status_code == 401
    assert not Submission.objects.exists()


# --- Submitting ---------------------------------------------------------------------------------------


@pytest.mark.spec("States/App status", "Submitting makes the app PENDING_REVIEW")
def test_submit_answers_the_submission(dana: User, app: App) -> None:
    with time_machine.travel(NOW, tick=False):
        api = api_of(dana)
        response = submit(api, app)
        assert status_of(api, app) == "PENDING_REVIEW"
    assert response.status_code == 201
    made = Submission.objects.get()
    assert response.json() == {
        "id": str(made.id),
        "status": "PENDING_REVIEW",
        "notes": None,
        "version": "0.1.0",
        "addedScopes": app.scopes,
        "removedScopes": [],
        "release": "ALL",
        "submittedAt": "2026-11-20T15:04:05.123Z",
        "decidedAt": None,
    }


@pytest.mark.parametrize(
    "content_type", ["application/json", "text/plain", "multipart/form-data; boundary=x"]
)
def test_submit_with_an_empty_body_takes_any_content_type(dana: User, app: App, content_type: str) -> None:
    bearer = f"Bearer {tokens.issue(dana).access}"
    client = Client(headers={"authorization": bearer})
    response = client.generic("POST", path(app, "submit"), b"", content_type=content_type)
    assert response.status_code == 201
    assert Submission.objects.get(app=app).status == "PENDING_REVIEW"


def test_submit_with_another_kind_of_body_is_415(dana: User, app: App) -> None:
    client = Client(headers={"authorization": f"Bearer {tokens.issue(dana).access}"})
    response = client.post(
        path(app, "submit"), b"howToTest=x", content_type="application/x-www-form-urlencoded"
    )
    assert response.status_code == 415
    assert not Submission.objects.exists()


def test_submit_keeps_what_the_developer_says(api: Api, app: App) -> None:
    body = {"howToTest": "Buy two stars.\nThen one.", "scopeReason": None, "unknown": 1}
    assert api("post", path(app, "submit"), body).status_code == 201
    made = Submission.objects.get()
    assert (made.how_to_test, made.scope_reason) == ("Buy two stars.\nThen one.", "")


@pytest.mark.spec("States/App status", "Submitting makes the app non-editable")
def test_app_in_review_can_not_be_edited_but_tested(api: Api, app: App) -> None:
    submit(api, app)
    refused = api("patch", f"/developer/apps/{app.id}", {"name": "New"})
    assert (refused.status_code, refused.json()["error"]) == (409, "Conflict")
    assert api("post", f"/developer/apps/{app.id}/test-install").status_code == 201
    assert api("post", f"/developer/apps/{app.id}/client-secret").status_code == 201


@pytest.mark.spec("Contract 2 Developer API", "Submitting in another state than DRAFT is a 409")
def test_submit_twice_and_of_an_approved_app_is_409(api: Api, app: App) -> None:
    submit(api, app)
    again = submit(api, app)
    assert (again.status_code, again.json()["message"]) == (409, "The app is already in review.")
    app.refresh_from_db()
    factories.approve(app)
    approved = submit(api, app)
    assert approved.status_code == 409
    assert "Change the app before you submit it again" in approved.json()["message"]
    assert Submission.objects.count() == 1


@pytest.mark.spec(
    "Contract 2 Developer API", "An incomplete submission is refused with what is missing: a URL refused now"
)
def test_submit_of_an_incomplete_app_is_400_with_what_is_missing(api: Api, app: App) -> None:
    App.objects.update(webhook_url="http://127.0.0.1:9/hooks", redirect_url="http://localhost/cb")
    response = submit(api, app)
    assert response.status_code == 400
    body = response.json()
    assert [problem["field"] for problem in body["details"]] == ["redirectUrl", "webhookUrl"]
    assert body["message"].startswith("The app can't be submitted yet.")
    assert status_of(api, app) == "DRAFT"


@pytest.mark.spec("Contract 2 Developer API", "An app is submitted with URLs of its own server")
def test_submit_with_urls_of_the_platform_is_400(api: Api, app: App, settings: Any) -> None:
    settings.BASE_URL = "https://platform.example.com"
    App.objects.update(redirect_url="https://platform.example.com/portal/apps/stars/redirect/")
    response = submit(api, app)
    assert response.status_code == 400
    (problem,) = response.json()["details"]
    assert problem == {
        "field": "redirectUrl",
        "message": "Enter a Redirect URL of your own server. Ours is only for your sandbox store.",
    }


@pytest.mark.spec("Contract 15 Doors", "URLs of ours are refused at submission, however they are spelt")
@pytest.mark.parametrize(
    "url",
    [
        *("https://platform.example/cb", "https://platform.example", "https://platform.example?a=b"),
        *("https://platform.example:443/cb", "https://PLATFORM.example/cb", "HTTPS://platform.example/cb"),
        *(
            "https://platform.example./cb",
            "https://bakery.shops.example/cb",
            "https://a.b.SHOPS.example:443/cb",
        ),
    ],
)
def test_submit_with_a_url_of_ours_in_another_spelling_is_400(
    api: Api, app: App, settings: Any, url: str
) -> None:
    """Codes would appear in the address bar of a page with other apps' scripts."""
    settings.BASE_URL, settings.STORES_URL = "https://platform.example", "https://{slug}.shops.example"
    App.objects.update(redirect_url=url, webhook_url=url)
    response = submit(api, app)
    assert response.status_code == 400
    assert [(problem["field"], "of your own server" in problem["message"]) for problem in response.json()["details"]] == [
        ("redirectUrl", True), ("webhookUrl", True)
    ]  # fmt: skip
    App.objects.update(
        redirect_url="https://platform.example:8443/cb", webhook_url="https://shops.example.org/"
    )
    assert submit(api, app).status_code == 201


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"howToTest": "x" * 4001}, "howToTest"),
        ({"scopeReason": "x" * 501}, "scopeReason"),
        ({"scopeReason": 5}, "scopeReason"),
        ({"howToTest": ["a"]}, "howToTest"),
        ({"howToTest": "a\x01b"}, "howToTest"),
    ],
)
def test_submit_with_a_bad_body_is_400(api: Api, app: App, body: Any, field: str) -> None:
    response = api("post", path(app, "submit"), body)
    assert response.status_code == 400
    assert [problem["field"] for problem in response.json()["details"]] == [field]
    assert not Submission.objects.exists()


# --- The list -----------------------------------------------------------------------------------------


@pytest.mark.spec(
    "Contract 2 Developer API", "submissions lists each with decision, notes and scope difference"
)
def test_submissions_tell_the_whole_story(api: Api, app: App, dana: User, rita: User) -> None:
    App.objects.update(scopes=["read_products"])
    first = reviews.submit(app=app, developer=dana, now=NOW)
    reviews.reject(submission=first, reviewer=rita, notes="Say what it does.", now=NOW)
    second = reviews.submit(app=app, developer=dana)
    reviews.approve(submission=second, reviewer=rita)
    api("patch", f"/developer/apps/{app.id}", {"scopes": ["read_orders"], "version": "2.0.0"})
    submit(api, app)
    api("post", path(app, "withdraw"))
    body = api("get", path(app, "submissions")).json()
    assert {key: body[key] for key in ("total", "page", "limit")} == {"total": 3, "page": 1, "limit": 50}
    told = [
        (each["status"], each["version"], each["notes"], each["addedScopes"], each["removedScopes"])
        for each in body["data"]
    ]
    assert told == [
        ("WITHDRAWN", "2.0.0", None, ["read_orders"], ["read_products"]),
        ("APPROVED", "0.1.0", None, ["read_products"], []),
        ("REJECTED", "0.1.0", "Say what it does.", ["read_products"], []),
    ]
    assert body["data"][2]["decidedAt"] == "2026-11-20T15:04:05.123Z"


def test_submissions_have_pages(api: Api, app: App) -> None:
    made = [factories.submit(app, status="WITHDRAWN", submitted_at=NOW) for _ in range(3)]
    assert api("get", path(app, "submissions") + "?limit=2&page=2").json() == {
        "data": [api("get", path(app, "submissions")).json()["data"][2]],
        "total": 3,
        "page": 2,
        "limit": 2,
    }
    ids = [each["id"] for each in api("get", path(app, "submissions") + "/").json()["data"]]
    assert ids == [str(each.id) for each in reversed(made)]
    assert api("get", path(app, "submissions") + "?limit=101").json()["limit"] == 100
    assert api("get", path(app, "submissions") + "?page=0").status_code == 400
    assert api("get", path(app, "submissions") + "?page=9").json()["data"] == []


# --- Withdrawing --------------------------------------------------------------------------------------


@pytest.mark.spec("Contract 9 Apps", "A submission can be withdrawn while no reviewer holds it")
def test_withdraw_makes_it_a_draft_again(api: Api, app: App) -> None:
    submitted = submit(api, app).json()
    response = api("post", path(app, "withdraw"))
    assert response.status_code == 200
    record = response.json()
    assert (record["id"], record["status"]) == (submitted["id"], "WITHDRAWN")
    assert record["decidedAt"] is not None
    assert status_of(api, app) == "DRAFT"
    assert api("patch", f"/developer/apps/{app.id}", {"name": "New"}).status_code == 200


@pytest.mark.spec("Contract 9 Apps", "A submission that a reviewer holds can't be withdrawn (409)")
def test_withdraw_of_what_a_reviewer_holds_is_409(api: Api, app: App, rita: User) -> None:
    reviews.take(submission=factories.submit(app), reviewer=rita)
    response = api("post", path(app, "withdraw"))
    assert response.status_code == 409
    assert rita.name not in response.json()["message"]
    assert status_of(api, app) == "PENDING_REVIEW"


def test_withdraw_of_what_is_not_in_review_is_409(api: Api, app: App) -> None:
    assert api("post", path(app, "withdraw")).status_code == 409
    factories.approve(app)
    assert api("post", path(app, "withdraw")).status_code == 409
    assert status_of(api, app) == "APPROVED"


@pytest.mark.spec("Contract 9 Apps", "Test installs and deletion are allowed in PENDING_REVIEW")
def test_delete_in_review(api: Api, app: App) -> None:
    submit(api, app)
    assert api("delete", f"/developer/apps/{app.id}").status_code == 204
    assert Submission.objects.get().status == "WITHDRAWN"
    assert api("get", f"/developer/apps/{app.id}").status_code == 404


@pytest.mark.spec(
    "Contract 2 Status", "Editing a frozen field of an approved app makes the working copy a draft"
)
def test_status_after_an_edit_of_an_approved_app(api: Api, app: App) -> None:
    factories.approve(app)
    unchanged = api("patch", f"/developer/apps/{app.id}", {"webhookEvents": ["order.created"]}).json()
    assert (unchanged["status"], unchanged["isListed"]) == ("APPROVED", True)
    edited = api("patch", f"/developer/apps/{app.id}", {"scopes": ["read_orders"]}).json()
    assert (edited["status"], edited["isListed"]) == ("DRAFT", True)
    assert edited["approvedScopes"] == app.scopes
    again = submit(api, app).json()
    assert again["addedScopes"] == []
    assert again["removedScopes"] == [scope for scope in app.scopes if scope != "read_orders"]
