"""`/developer/apps/:appId/release`: states, roles and bodies (contract, section 10)."""

import pytest
from django.test import Client

from accounts.models import User
from accounts.sign_in import tokens
from installations.models import Installation
from marketplace.enums import AppRole
from marketplace.models import App, AppVersion, ReviewEntry
from marketplace.queries import MOVES
from marketplace.services import releases, reviews
from marketplace.services.locks import lock_app
from marketplace.signals import release_moved
from tests import factories
from tests.clients import Api
from tests.developers.api.releases.rolling import RELEASES, approve, change, path
from tests.signals import heard


@pytest.mark.spec(RELEASES, "404 before the first approval; a first approval is COMPLETE at once")
def test_first_approval(api: Api, sams_api: Api, stars: App) -> None:
    for method, each in (
        ("get", ""),
        ("post", "advance"),
        ("post", "halt"),
        ("post", "resume"),
        ("post", "back"),
    ):
        assert api(method, path(stars, each), {} if method == "post" else None).status_code == 404
    app = approve(stars)
    found = api("get", path(app)).json()
    nothing = {"calls": 0, "failed": 0, "failureRate": None, "p95Ms": None}
    assert found == {
        "number": 1, "version": "1.4.0", "mode": "STEPS", "state": "COMPLETE", "percent": 100,
        "stores": {"new": 0, "old": 0}, "startedAt": found["startedAt"], "nextStepAt": None,
        "endedAt": found["startedAt"], "reason": None, "health": {"new": nothing, "old": nothing},
    }  # fmt: skip
    assert sams_api("get", path(app)).status_code == 404
    refused = api("post", path(app, "back"), {})
    assert (refused.status_code, refused.headers["X-Error-Code"]) == (409, "no_earlier_version")


@pytest.mark.long
@pytest.mark.spec(RELEASES, "submit takes ALL or STEPS; 409 while a release is open; the submission has it")
def test_submission(api: Api, first: App, twenty: list[Installation], dana: User) -> None:
    submit = f"/developer/apps/{first.pk}/submit"
    first = change(first, version="2.0.0")
    for wrong in ("SLOWLY", "", None, 1):
        assert api("post", submit, {"release": wrong}).status_code == 400
    made = api("post", submit, {"release": "STEPS"})
    assert (made.status_code, made.json()["release"]) == (201, "STEPS")
    reviews.approve(submission=first.submissions.get(status="PENDING_REVIEW"), reviewer=factories.reviewer())
    assert api("get", path(first)).json()["state"] == "ROLLING"
    for state in ("ROLLING", "HALTED"):
        change(first, version="3.0.0")
        assert api("get", path(first)).json()["state"] == state
        refused = [api("post", submit, {}), api("post", f"/developer/apps/{first.pk}/versions/1/restore", {})]
        assert [each.status_code for each in refused] == [409, 409]
        assert {each.headers["X-Error-Code"] for each in refused} == {"release_open"}
        api("post", path(first, "halt"), {})


@pytest.mark.long
@pytest.mark.spec(
    RELEASES, "ROLLING has advance, halt, back; HALTED resume, back; COMPLETE back; all else is 409"
)
def test_states(api: Api, rolling: App) -> None:
    def tried(name: str) -> tuple[int, str]:
        response = api("post", path(rolling, name), {})
        return response.status_code, api("get", path(rolling)).json()["state"]

    assert tried("resume") == (409, "ROLLING")
    assert tried("halt") == (200, "HALTED")
    assert tried("advance") == tried("halt") == (409, "HALTED")
    assert tried("resume") == (200, "ROLLING")
    assert [api("post", path(rolling, "advance"), {}).json()["percent"] for _ in range(3)] == [5, 25, 100]
    assert tried("advance") == tried("halt") == tried("resume") == (409, "COMPLETE")
    assert tried("back") == (200, "TAKEN_BACK")
    for name in ("advance", "halt", "resume", "back"):
        assert tried(name) == (409, "TAKEN_BACK")


@pytest.mark.long
@pytest.mark.spec(RELEASES, "A reason of at most 500 characters; without one, who halted it")
def test_reason(api: Api, rolling: App, sam: User, sams_api: Api) -> None:
    for name in ("halt", "back"):
        for wrong in ("x" * 501, 5, None, ["x"]):
            assert api("post", path(rolling, name), {"reason": wrong}).status_code == 400
    factories.member(rolling, sam, AppRole.VIEWER)
    assert sams_api("get", path(rolling)).status_code == 200
    assert sams_api("post", path(rolling, "halt"), {}).status_code == 403
    assert api("post", path(rolling, "halt"), {}).json()["reason"] == "Halted by Dana."
    assert api("post", path(rolling, "resume"), {}).json()["reason"] is None
    longest = "x" * 500
    with heard(release_moved) as moved:
        assert api("post", path(rolling, "halt"), {"reason": longest}).json()["reason"] == longest
    assert [(call["app"], call["release"].state) for call in moved] == [(rolling, "HALTED")]
    assert api("post", path(rolling, "resume"), {}).status_code == 200
    assert api("post", path(rolling, "halt"), {"reason": "Prices."}).json()["reason"] == "Prices."
    assert ReviewEntry.objects.filter(app=rolling, kind="HALTED", note__endswith="Prices.").exists()


@pytest.mark.long
def test_every_move_is_logged_and_followed(api: Api, rolling: App, dana: User) -> None:
    """The log has each with who made it. Stores follow the version that it is about, and no other."""
    followed = []
    with heard(release_moved) as moved:
        for name in ("halt", "resume", "advance", "advance", "advance", "back"):
            assert api("post", path(rolling, name), {}).status_code == 200, name
            followed.append([each.number for each in AppVersion.objects.filter(followed_at=None)])
    log = ReviewEntry.objects.filter(app=rolling, actor=dana, kind__in=MOVES).order_by("at")
    assert [(each.kind, each.note.removeprefix("Version 2.0.0: ")) for each in log] == [
        ("HALTED", "Halted by Dana."),
        ("RESUMED", "1% of the stores"),
        ("ADVANCED", "5% of the stores"),
        ("ADVANCED", "25% of the stores"),
        ("ADVANCED", "100% of the stores"),
        ("TAKEN_BACK", "Taken back by Dana."),
    ]
    assert [call["release"].state for call in moved] == [
        "HALTED", "ROLLING", "ROLLING", "ROLLING", "COMPLETE", "TAKEN_BACK",
    ]  # fmt: skip
    assert followed == [[], [2], [2], [2], [2], [1]]


@pytest.mark.long
def test_role_that_ends_while_a_move_waits_for_its_turn(
    api: Api, rolling: App, sam: User, sams_api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    membership = factories.member(rolling, sam, AppRole.DEVELOPER)

    def wait(app: App) -> App:
        membership.delete()
        return lock_app(app)

    monkeypatch.setattr(releases, "lock_app", wait)
    assert sams_api("post", path(rolling, "halt"), {}).status_code == 404
    assert api("get", path(rolling)).json()["state"] == "ROLLING"


@pytest.mark.long
def test_bodies(api: Api, rolling: App, dana: User) -> None:
    """None is needed. Anything but an object is refused where a body may be, and changes nothing."""
    for name in ("halt", "back"):
        for body in ("null", "[]", '"Prices."'):
            assert api("post", path(rolling, name), body).status_code == 400, (name, body)
    assert api("get", path(rolling)).json()["state"] == "ROLLING"
    client = Client(headers={"authorization": f"Bearer {tokens.issue(dana).access}"})
    for name in ("advance", "halt", "resume", "back"):
        assert client.generic("POST", path(rolling, name)).status_code == 200, name
