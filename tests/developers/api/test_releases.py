"""`/developer/apps/:appId/release` and what stores run meanwhile (contract, section 10)."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from accounts.sign_in import tokens
from extensions.enums import CallOutcome, ExtensionType
from extensions.hooks.live import live_hooks
from extensions.models import Breaker, Definition, HookCall, LiveDefinition, ReachRequest
from extensions.queries import extensions_on
from extensions.reach_requests import requested_capabilities
from extensions.releases.watch import look
from installations.models import Installation
from installations.services import approval, approve_scopes
from installations.services.approval import follow_all
from installations.services.authorization import authorize
from installations.signals import approval_followed
from marketplace.enums import AppRole, AppStatus, ReleaseState
from marketplace.models import App, AppVersion, Release, ReviewEntry
from marketplace.services import releases, reviews
from stores.hookpoints import HookPoint
from tests import factories
from tests.clients import Api, client_of
from tests.deliveries import OK, TIMEOUT, UNAVAILABLE, delivery
from tests.extensions.manifests import Document, block, hook, script
from tests.merchants.pages import installed
from tests.pages import signed_in, text_of
from tests.signals import connected
from webhooks.enums import DeliveryStatus
from webhooks.models import Webhook
from webhooks.queries import destination

RELEASES = "Contract 10 Releases"
OLD, NEW = "https://stars.example.com/v1", "https://stars.example.com/v2"
POINT = HookPoint.DISCOUNTS
BEFORE: Document = {"blocks": [block()], "hooks": [hook()]}


def path(app: App, call: str = "") -> str:
    return f"/developer/apps/{app.pk}/release" + (f"/{call}" if call else "")


def approve(app: App, mode: str = "STEPS") -> App:
    reviews.approve(
        submission=factories.submit(App.objects.get(pk=app.pk), release=mode), reviewer=factories.reviewer()
    )
    follow_all()
    return App.objects.get(pk=app.pk)


def change(app: App, **fields: Any) -> App:
    App.objects.filter(pk=app.pk).update(status=AppStatus.DRAFT, **fields)
    return App.objects.get(pk=app.pk)


def save(api: Api, app: App, document: Document) -> dict[str, Any]:
    response = api("put", f"/developer/apps/{app.pk}/manifest", document)
    assert response.status_code == 200, response.json()
    return dict(response.json())


def stores(app: App, number: int) -> list[Installation]:
    merchants = [factories.merchant(f"m{each}@example.com") for each in range(number)]
    return [installed(app, Business.objects.get(owner=each)) for each in merchants]


def seen(each: Installation) -> Installation:
    return Installation.objects.with_app().get(pk=each.pk)


def urls(installs: list[Installation]) -> dict[str, set[Any]]:
    """The stores by the version's URL of their deliveries, which is that of their hooks."""
    found: dict[str, set[Any]] = {OLD: set(), NEW: set()}
    for each in installs:
        rows = Webhook.objects.select_related(
            "installation__app__approved_version", "installation__app__rolling_version"
        )
        url = destination(rows.get(installation=each))
        assert [asked.url for asked in live_hooks(each.business, POINT)] == [f"{url}/hooks/discounts"]
        found[url].add(each.pk)
    return found


def running(business: Business) -> dict[str, Any]:
    return {
        each.definition.key: each.definition.content
        for kind in ExtensionType
        for each in extensions_on(business, kind)
    }


@pytest.fixture
def first(api: Api, stars: App) -> App:
    """Version 1, approved."""
    App.objects.filter(pk=stars.pk).update(webhook_url=OLD)
    save(api, stars, BEFORE)
    return approve(stars)


@pytest.fixture
def twenty(first: App) -> list[Installation]:
    return stores(first, 20)


@pytest.fixture
def rolling(first: App, twenty: list[Installation]) -> App:
    """Version 2 with another Webhook URL, in 1 % of twenty stores."""
    return approve(change(first, webhook_url=NEW, version="2.0.0"))


def call(each: Installation, *, number: int = 1, outcome: str = CallOutcome.ANSWERED, took: int = 50) -> None:
    definition = Definition.objects.get(app=each.app_id, type=ExtensionType.HOOK)
    HookCall.objects.bulk_create(
        HookCall(
            installation=each, definition=definition, hook_point=POINT, called_at=timezone.now(), duration_ms=took,
            outcome=outcome,
        )
        for _ in range(number)
    )  # fmt: skip


def new_of(installs: list[Installation]) -> Installation:
    return next(each for each in map(seen, installs) if each.is_in_release)


def agree(each: Installation, version: AppVersion) -> None:
    """Its merchant goes through `/oauth/authorize` and is shown this version."""
    authorize(
        app=each.app, version=version, business=each.business, user=each.business.owner, scopes=version.scopes,
        narrows=False, redirect_uri=version.redirect_url, names_redirect_uri=False, code="code",
    )  # fmt: skip


# --- The calls ------------------------------------------------------------------------------------------


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
    assert api("post", path(rolling, "halt"), {"reason": "Prices."}).json()["reason"] == "Prices."
    assert ReviewEntry.objects.filter(app=rolling, kind="HALTED", note__endswith="Prices.").exists()


@pytest.mark.spec(RELEASES, "A VIEWER gets 403 for every move, and another developer 404")
def test_who_may_move_it(api: Api, rolling: App, sam: User, sams_api: Api) -> None:
    moves = ("advance", "halt", "resume", "back")
    assert {sams_api("post", path(rolling, each), {}).status_code for each in moves} == {404}
    factories.member(rolling, sam, AppRole.VIEWER)
    assert {sams_api("post", path(rolling, each), {}).status_code for each in moves} == {403}
    found = api("get", path(rolling)).json()
    assert (found["state"], found["percent"]) == ("ROLLING", 1)


def test_bodies(api: Api, rolling: App, dana: User) -> None:
    """None is needed. What is no object is refused where a body may be, and changes nothing."""
    for name in ("halt", "back"):
        for body in ("null", "[]", '"Prices."'):
            assert api("post", path(rolling, name), body).status_code == 400, (name, body)
    assert api("get", path(rolling)).json()["state"] == "ROLLING"
    client = Client(headers={"authorization": f"Bearer {tokens.issue(dana).access}"})
    for name in ("advance", "halt", "resume", "back"):
        assert client.generic("POST", path(rolling, name)).status_code == 200, name


# --- What stores run ------------------------------------------------------------------------------------


@pytest.mark.spec(RELEASES, "About so many per cent, at least one; a step only adds stores")
def test_steps(api: Api, rolling: App, twenty: list[Installation]) -> None:
    sizes, before = [], set[Any]()
    for _ in range(4):
        found = urls(twenty)
        assert before <= found[NEW], "a step only adds"
        state = api("get", path(rolling)).json()
        assert state["stores"] == {"new": len(found[NEW]), "old": len(found[OLD])}
        sizes.append(len(found[NEW]))
        before = found[NEW]
        api("post", path(rolling, "advance"), {})
        follow_all()
    assert sizes == [1, 1, 5, 20]


@pytest.mark.spec(
    RELEASES, "New installs and the listing have the new version, and the version before while HALTED"
)
def test_installs_meanwhile(api: Api, rolling: App, twenty: list[Installation]) -> None:
    (late,) = [
        installed(App.objects.get(pk=rolling.pk), factories.business(factories.merchant("l@example.com")))
    ]
    assert urls([late])[NEW] == {late.pk}
    api("post", path(rolling, "halt"), {})
    assert len(urls(twenty)[NEW]) == 1, "none goes back"
    app = App.objects.get(pk=rolling.pk)
    assert app.approved_version
    assert app.approved_version.version == "1.4.0"
    later = installed(app, factories.business(factories.merchant("k@example.com")))
    assert urls([later])[OLD] == {later.pk}
    Release.objects.update(bound=2**63 - 1)
    AppVersion.objects.filter(number=2).update(followed_at=None)
    follow_all()
    assert len(urls(twenty)[NEW]) == 1, "no store comes in"
    assert api("get", path(rolling)).json()["stores"] == {"new": 1, "old": 19}, "later ones aren't counted"


@pytest.mark.spec(RELEASES, "In steps, an app without a store is COMPLETE at once")
def test_steps_without_a_store(api: Api, first: App) -> None:
    app = approve(change(first, webhook_url=NEW, version="2.0.0"))
    found = api("get", path(app)).json()
    assert (found["mode"], found["state"], found["percent"]) == ("STEPS", "COMPLETE", 100)
    assert found["stores"] == {"new": 0, "old": 0}
    (later,) = stores(app, 1)
    assert urls([later])[NEW] == {later.pk}


@pytest.mark.spec(
    RELEASES, "A test install that the approval converts runs the new version, while HALTED the one before"
)
@pytest.mark.parametrize("halted", [False, True], ids=["rolling", "halted"])
def test_conversion(api: Api, first: App, twenty: list[Installation], sam: User, halted: bool) -> None:
    """Of another developer. It is in no number."""
    test = factories.installation(first, Business.objects.sandbox_of(sam), is_test=True)
    app = change(first, webhook_url=NEW, version="2.0.0")
    reviews.approve(submission=factories.submit(app, release="STEPS"), reviewer=factories.reviewer())
    if halted:
        releases.halt(app=app)
    follow_all()
    now = seen(test)
    assert (now.is_test, now.webhook_url) == (False, OLD if halted else NEW)
    assert sum(api("get", path(app)).json()["stores"].values()) == 20


@pytest.mark.spec(RELEASES, "Definitions, scopes and questions of a store whose step hasn't come")
def test_scopes_and_definitions(api: Api, first: App, twenty: list[Installation]) -> None:
    save(api, first, BEFORE | {"embeds": [script()]})
    app = approve(change(first, scopes=["read_products", "read_reviews"], version="2.0.0"))
    new, old = new_of(twenty), next(each for each in map(seen, twenty) if not each.is_in_release)
    for each in (new, old):
        assert each.effective_scopes == ["read_products"], "removed at once everywhere"
        assert "counter" not in running(each.business)
    assert (new.needs_reconsent, new.missing_scopes) == (True, ["read_reviews"])
    assert (old.needs_reconsent, old.missing_scopes, old.is_behind) == (False, [], False)
    approve_scopes(installation=new, user=new.business.owner)
    assert seen(new).effective_scopes == ["read_products", "read_reviews"]
    assert "counter" in running(new.business)
    for each in twenty[:2]:
        found = client_of(each).get("/app-api/installation").json()
        assert found["scopes"] == seen(each).effective_scopes
    api("post", path(app, "halt"), {})
    assert seen(new).effective_scopes == ["read_products", "read_reviews"], "none goes back"
    assert seen(old).effective_scopes == ["read_products"], "what was lost stays lost"


@pytest.mark.spec(RELEASES, "A store that authorizes by itself agrees to the newest version and is in")
def test_comes_in_by_consent(rolling: App, twenty: list[Installation]) -> None:
    old = next(each for each in map(seen, twenty) if not each.is_in_release)
    version = App.objects.get(pk=rolling.pk).approved_version
    assert version
    agree(old, version)
    assert urls([old])[NEW] == {old.pk}


@pytest.mark.spec(RELEASES, "None goes back while HALTED, also if it is authorized for the version before")
@pytest.mark.parametrize("says_yes", [True, False])
def test_authorized_while_halted(api: Api, first: App, twenty: list[Installation], says_yes: bool) -> None:
    save(api, first, BEFORE | {"embeds": [script()]})
    app = approve(change(first, scopes=["read_products", "read_reviews"], version="2.0.0", webhook_url=NEW))
    new = new_of(twenty)
    if says_yes:
        approve_scopes(installation=new, user=new.business.owner)
    api("post", path(app, "halt"), {})
    before = seen(new)
    shown = App.objects.get(pk=app.pk).approved_version
    assert shown
    assert shown.number == 1
    agree(new, shown)
    now = seen(new)
    assert (now.is_in_release, now.needs_reconsent) == (True, not says_yes)
    assert now.effective_scopes == before.effective_scopes
    assert ("counter" in running(new.business)) is says_yes
    api("post", path(app, "back"), {})
    follow_all()
    assert seen(new).effective_scopes == ["read_products", "read_orders"]


# --- It goes on and halts by itself ---------------------------------------------------------------------


@pytest.fixture
def later() -> Callable[..., None]:
    """Look at the releases after so much time."""

    def move(**time: float) -> None:
        look(now=timezone.now() + timedelta(**time))
        follow_all()

    return move


@pytest.mark.spec(RELEASES, "A step ends by itself with 20 calls; without them it waits, at most seven days")
def test_steps_end_by_themselves(
    api: Api, rolling: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    found = api("get", path(rolling)).json()
    assert found["nextStepAt"] is not None
    later(hours=23)
    later(hours=25)
    assert api("get", path(rolling)).json()["percent"] == 1, "nothing is known of the new version"
    call(new_of(twenty), number=20)
    later(hours=23)
    assert api("get", path(rolling)).json()["percent"] == 1
    later(hours=25)
    assert api("get", path(rolling)).json()["percent"] == 5
    Release.objects.update(watched_from=timezone.now(), step_at=timezone.now() - timedelta(days=3))
    assert api("get", path(rolling)).json()["nextStepAt"] is None
    later(days=4, hours=23)
    assert api("get", path(rolling)).json()["percent"] == 5
    later(days=5, minutes=1)
    assert api("get", path(rolling)).json()["percent"] == 25


@pytest.mark.spec(
    RELEASES, "A version that fails more often halts by itself, with the reason; skipped calls aside"
)
def test_failing_version_halts(
    api: Api, rolling: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    new, old = new_of(twenty), next(each for each in map(seen, twenty) if not each.is_in_release)
    call(old, number=30)
    call(new, number=40, outcome=CallOutcome.BREAKER_OPEN, took=0)
    call(new, number=19, outcome=CallOutcome.TIMEOUT, took=5000)
    later(seconds=10)
    assert api("get", path(rolling)).json()["state"] == "ROLLING"
    call(new, outcome=CallOutcome.HTTP_ERROR)
    later(seconds=10)
    found = api("get", path(rolling)).json()
    assert (found["state"], found["reason"]) == ("HALTED", "All 20 calls with the new version failed.")
    assert found["health"] == {
        "new": {"calls": 20, "failed": 20, "failureRate": 1.0, "p95Ms": 5000},
        "old": {"calls": 30, "failed": 0, "failureRate": 0.0, "p95Ms": 50},
    }
    later(days=30)
    assert api("get", path(rolling)).json()["percent"] == 1
    assert api("post", path(rolling, "resume"), {}).status_code == 200
    later(seconds=10)
    assert api("get", path(rolling)).json()["state"] == "ROLLING", "judged by its calls from now on"


@pytest.mark.usefixtures("tasks_run_at_once")
def test_halt_is_mailed(
    rolling: App, twenty: list[Installation], dana: User, sam: User, django_capture_on_commit_callbacks: Any
) -> None:
    """To the owner and the developers, with the figure. A halt by hand sends none."""
    factories.member(rolling, sam, AppRole.DEVELOPER)
    viewer = factories.developer("viewer@example.com")
    factories.member(rolling, viewer, AppRole.VIEWER)
    call(new_of(twenty), number=20, outcome=CallOutcome.HTTP_ERROR)
    mail.outbox.clear()
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            look()
    assert [each.to for each in mail.outbox] == [[dana.email], [sam.email]]
    (message, _other) = mail.outbox
    assert message.subject == "Loyalty Stars 2.0.0: the release has halted"
    for words in ("All 20 calls with the new version failed.", "at 1 %", "/portal/apps/stars/release/"):
        assert words in str(message.body)
    with django_capture_on_commit_callbacks(execute=True):
        releases.resume(app=rolling, by=dana)
        releases.halt(app=rolling, by=dana)
    assert len(mail.outbox) == 2


@pytest.mark.spec(
    RELEASES,
    "First attempts of deliveries since the approval count; tests, resends, sandboxes and others don't",
)
def test_what_counts(
    api: Api, rolling: App, twenty: list[Installation], sandbox: Business, sam: User
) -> None:
    new, old = new_of(twenty), next(each for each in map(seen, twenty) if not each.is_in_release)
    own = installed(App.objects.get(pk=rolling.pk), sandbox)
    other = installed(factories.app(sam, webhook_url=NEW, slug="other"), Business.objects.sandbox_of(sam))
    factories.approve(App.objects.get(slug="other"))
    Installation.objects.filter(pk=other.pk).update(is_test=False, is_own=False)
    for each in (new, old, own, other):
        webhook = Webhook.objects.select_related("installation__business").get(installation=each)
        delivery(webhook, DeliveryStatus.SUCCEEDED, UNAVAILABLE, OK)
        delivery(webhook, DeliveryStatus.SUCCEEDED, OK)
        delivery(webhook, DeliveryStatus.EXHAUSTED, TIMEOUT, event_type="webhook.test")
        delivery(webhook, DeliveryStatus.SUCCEEDED, TIMEOUT, created_at=timezone.now() - timedelta(hours=2))
    call(old, took=20)
    HookCall.objects.filter(installation=old).update(called_at=timezone.now() - timedelta(hours=1))
    assert api("get", path(rolling)).json()["health"] == {
        name: {"calls": 2, "failed": 1, "failureRate": 0.5, "p95Ms": 812} for name in ("new", "old")
    }


@pytest.mark.spec(RELEASES, "Resume begins the step anew: a whole step, with its 20 calls")
def test_resume_begins_the_step_again(
    api: Api, rolling: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    call(new_of(twenty), number=20)
    days_ago = timezone.now() - timedelta(days=2)
    HookCall.objects.update(called_at=days_ago + timedelta(hours=1))
    Installation.objects.update(followed_at=days_ago)
    Release.objects.update(started_at=days_ago, step_at=days_ago, watched_from=days_ago)
    api("post", path(rolling, "halt"), {})
    ends = datetime.fromisoformat(api("post", path(rolling, "resume"), {}).json()["nextStepAt"])
    assert timedelta(hours=23) < ends - timezone.now() <= timedelta(days=1)
    later(hours=25)
    found = api("get", path(rolling)).json()
    assert (found["percent"], found["health"]["new"]["calls"]) == (1, 20), "calls from now on count"
    call(new_of(twenty), number=20)
    later(hours=23)
    assert api("get", path(rolling)).json()["percent"] == 1
    later(hours=25)
    assert api("get", path(rolling)).json()["percent"] == 5


@pytest.mark.spec(RELEASES, "A slow version halts by itself")
def test_slow_version_halts(
    api: Api, rolling: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    new, old = new_of(twenty), next(each for each in map(seen, twenty) if not each.is_in_release)
    call(old, number=40, took=100)
    call(new, number=40, took=900)
    later(seconds=10)
    assert "900 ms with the new version" in api("get", path(rolling)).json()["reason"]


@pytest.mark.spec(
    RELEASES, "Suspending halts a release; it stays HALTED, and resume is 409 until it is lifted"
)
def test_suspension(api: Api, rolling: App) -> None:
    reviewer = factories.reviewer()
    reviews.suspend(app=rolling, reviewer=reviewer, reason="Spam")
    assert api("get", path(rolling)).json()["state"] == "HALTED"
    refused = api("post", path(rolling, "resume"), {})
    assert (refused.status_code, refused.headers["X-Error-Code"]) == (409, "app_suspended")
    reviews.reinstate(app=rolling, reviewer=reviewer)
    assert api("get", path(rolling)).json()["state"] == "HALTED"
    assert api("post", path(rolling, "resume"), {}).status_code == 200


@pytest.mark.spec(RELEASES, "A release in steps of a suspended app waits, HALTED, until it is resumed")
def test_approval_while_suspended(
    api: Api, first: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    reviewer = factories.reviewer()
    reviews.suspend(app=first, reviewer=reviewer, reason="Spam")
    app = approve(change(first, webhook_url=NEW, version="2.0.0"))
    later(days=30)
    found = api("get", path(app)).json()
    assert (found["state"], found["percent"], found["reason"]) == ("HALTED", 1, "The app is suspended.")
    assert api("post", path(app, "resume"), {}).status_code == 409
    reviews.reinstate(app=app, reviewer=reviewer)
    follow_all()
    assert not urls(twenty)[NEW]
    assert api("post", path(app, "resume"), {}).status_code == 200
    follow_all()
    assert len(urls(twenty)[NEW]) == 1


def test_figures_are_kept_at_the_end(
    api: Api, rolling: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    """With the last step; later calls change nothing, and figures outlive their rows."""
    call(new_of(twenty), number=3)
    for _ in range(3):
        api("post", path(rolling, "advance"), {})
        follow_all()
    at_the_end = api("get", path(rolling)).json()["health"]
    assert at_the_end["new"]["calls"] == 3
    call(twenty[0], number=4, outcome=CallOutcome.TIMEOUT)
    assert api("get", path(rolling)).json()["health"] == at_the_end
    later(seconds=10)
    HookCall.objects.all().delete()
    assert api("get", path(rolling)).json()["health"] == at_the_end
    api("post", path(rolling, "back"), {})
    assert api("get", path(rolling)).json()["health"] == at_the_end


def test_figures_of_a_release_to_all_are_of_a_week(
    api: Api, first: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    app = approve(change(first, version="2.0.0"), "ALL")
    call(twenty[0], number=3)
    ended = timezone.now() - timedelta(days=7, minutes=1)
    Release.objects.filter(version__number=2).update(started_at=ended, ended_at=ended)
    call(twenty[1], number=2)
    HookCall.objects.filter(installation=twenty[0]).update(called_at=ended + timedelta(days=6))
    assert api("get", path(app)).json()["health"]["new"]["calls"] == 3
    later(seconds=10)
    HookCall.objects.all().delete()
    assert api("get", path(app)).json()["health"]["new"]["calls"] == 3


def test_open_release_writes_definitions_once(api: Api, rolling: App, twenty: list[Installation]) -> None:
    """Neither its moves nor the consent of a store that runs one of its versions change what runs."""

    def rows() -> set[Any]:
        return {*LiveDefinition.objects.values_list("pk"), *ReachRequest.objects.values_list("pk")}

    before = rows()
    old = next(each for each in map(seen, twenty) if not each.is_in_release)
    Installation.objects.filter(pk=old.pk).update(granted_scopes=[])
    approve_scopes(installation=seen(old), user=old.business.owner)
    for move in ("advance", "halt", "resume", "advance"):
        assert api("post", path(rolling, move), {}).status_code == 200
        follow_all()
    assert rows() == before


# --- Taken back -----------------------------------------------------------------------------------------


@pytest.mark.spec(
    RELEASES, "back: every store runs the version before, with its manifest, as far as it had agreed"
)
@pytest.mark.parametrize("mode", ["ALL", "STEPS"])
def test_back(api: Api, first: App, twenty: list[Installation], mode: str) -> None:
    save(api, first, {"blocks": [block(name="Ratings")], "hooks": [hook(timeout=200)]})
    app = approve(change(first, webhook_url=NEW, version="2.0.0", scopes=["read_products"]), mode)
    late = installed(app, factories.business(factories.merchant("l@example.com")))
    save(api, app, {"blocks": [block(name="Later")]})
    assert not live_hooks(twenty[0].business, POINT), "the save dropped it"
    new = seen(twenty[0]) if mode == "ALL" else new_of(twenty)
    definition = Definition.objects.get(key=POINT)
    Breaker.objects.create(installation=new, definition=definition, open_since=timezone.now())

    answer = api("post", path(app, "back"), {"reason": "Wrong prices"}).json()
    assert (answer["state"], answer["reason"], answer["stores"]) == (
        "TAKEN_BACK", "Wrong prices", {"new": 0, "old": 20},
    )  # fmt: skip
    follow_all()
    assert urls(twenty)[OLD] == {each.pk for each in twenty}
    for each in twenty:
        assert running(each.business)["stars"]["name"] == "Star rating"
        assert running(each.business)["order.calculate_discounts"]["timeout"] == 5000
        assert seen(each).effective_scopes == ["read_products", "read_orders"]
        assert not seen(each).needs_reconsent
    assert seen(late).effective_scopes == ["read_products"]
    assert seen(late).needs_reconsent
    assert not Breaker.objects.exists()
    app = App.objects.get(pk=app.pk)
    found = api("get", f"/developer/apps/{app.pk}").json()
    assert found["approvedScopes"] == ["read_products", "read_orders"]
    assert (found["version"], found["manifest"]["blocks"][0]["name"]) == ("2.0.0", "Later")
    versions = api("get", f"/developer/apps/{app.pk}/versions").json()["data"]
    assert [(each["number"], each["isCurrent"], each["isTakenBack"]) for each in versions] == [
        (2, False, True), (1, True, False),
    ]  # fmt: skip
    assert api("post", f"/developer/apps/{app.pk}/submit", {}).status_code == 201


@pytest.mark.spec(RELEASES, "back closes the breakers that the newer version opened, and no others")
@pytest.mark.parametrize("mode", ["ALL", "STEPS"])
def test_breakers_after_back(api: Api, first: App, twenty: list[Installation], mode: str) -> None:
    definition = Definition.objects.get(key=POINT)

    def opened(each: Installation) -> Breaker:
        return Breaker.objects.create(
            installation=each, definition=definition, open_since=timezone.now(), open_until=timezone.now()
        )

    before = {each: opened(each) for each in twenty}
    app = approve(change(first, webhook_url=NEW, version="2.0.0"), mode)
    new = seen(twenty[0]) if mode == "ALL" else new_of(twenty)
    outside = next(each for each in twenty if each != new)
    for each in (new, outside):
        before.pop(each).delete()
        opened(each)
    api("post", path(app, "back"), {})
    closed = {new, outside} if mode == "ALL" else {new}  # the other one ran the version before
    assert {each.installation for each in Breaker.objects.all()} == {*twenty} - closed


@pytest.mark.spec(RELEASES, "back gives no store more than it had agreed to")
def test_back_without_a_yes(api: Api, first: App, twenty: list[Installation]) -> None:
    save(api, first, BEFORE | {"embeds": [script()]})
    approve(change(first, version="2.0.0"), "ALL")
    approve_scopes(installation=seen(twenty[0]), user=twenty[0].business.owner)
    save(api, first, BEFORE)
    app = approve(change(first, version="3.0.0"), "ALL")
    assert len({seen(each).agreed_version_id for each in twenty}) == 1, "the third asks for nothing"
    api("post", path(app, "back"), {})
    follow_all()
    assert [("counter" in running(each.business)) for each in twenty[:3]] == [True, False, False]
    assert [len(requested_capabilities(seen(each))) for each in twenty[:3]] == [0, 1, 1]


@pytest.mark.spec(RELEASES, "After back a later save is live as ever, definition by definition")
def test_saves_after_back(api: Api, first: App, twenty: list[Installation]) -> None:
    save(api, first, {"blocks": [block(name="Broken")], "hooks": [hook(timeout=200)]})
    app = approve(change(first, version="2.0.0"), "ALL")
    api("post", path(app, "back"), {})
    follow_all()
    saved = save(api, app, {"blocks": [block(name="Broken")], "hooks": [hook(timeout=300)]})
    now = running(twenty[0].business)
    assert (now["stars"]["name"], now["order.calculate_discounts"]["timeout"]) == ("Star rating", 300)
    assert [each["key"] for each in saved["reach"]["withNextVersion"]] == ["stars"]


@pytest.mark.spec(RELEASES, "The version before is one that was not itself taken back")
def test_back_twice(api: Api, first: App, twenty: list[Installation]) -> None:
    for version in ("2.0.0", "3.0.0"):
        app = approve(change(first, version=version, webhook_url=NEW), "ALL")
        assert api("post", path(app, "back"), {}).status_code == 200
        follow_all()
        assert len(urls(twenty)[OLD]) == 20
        app = App.objects.get(pk=app.pk)
        assert app.approved_version
        assert app.approved_version.number == 1


@pytest.mark.spec(RELEASES, "A version that was taken back and is restored runs in all stores, as complete")
def test_restored_after_back(api: Api, rolling: App, twenty: list[Installation]) -> None:
    call(new_of(twenty), number=3)
    back = api("post", path(rolling, "back"), {"reason": "Prices."}).json()
    follow_all()
    assert api("post", f"/developer/apps/{rolling.pk}/versions/2/restore", {}).status_code == 200
    follow_all()
    found = api("get", path(rolling)).json()
    assert (found["state"], found["percent"], found["reason"]) == ("COMPLETE", 100, None)
    assert found["stores"] == {"new": 20, "old": 0}
    assert found["startedAt"] == found["endedAt"] > back["endedAt"]
    assert found["health"]["new"]["calls"] == 0
    assert len(urls(twenty)[NEW]) == 20


def test_back_during_a_review(api: Api, first: App, twenty: list[Installation], dana: User) -> None:
    """What the reviewer decides on is compared with the version that runs."""
    app = approve(change(first, version="2.0.0", scopes=["read_products"]), "ALL")
    change(app, version="3.0.0", scopes=["read_products", "read_orders"])
    assert api("post", f"/developer/apps/{app.pk}/submit", {}).status_code == 201
    review = f"/portal/apps/{app.slug}/review/"
    assert "New scopes" in text_of(signed_in(dana).get(review))
    api("post", path(app, "back"), {})
    assert "New scopes" not in text_of(signed_in(dana).get(review))


# --- liveSaves ------------------------------------------------------------------------------------------


@pytest.mark.spec(
    RELEASES, "liveSaves false: production runs the whole manifest of the version of each store"
)
def test_live_saves(api: Api, first: App, twenty: list[Installation], sandbox: Business) -> None:
    factories.installation(first, sandbox)
    shop, url = twenty[0].business, f"/developer/apps/{first.pk}"
    assert api("get", url).json()["liveSaves"] is True
    for wrong in ("no", 0, None):
        assert api("patch", url, {"liveSaves": wrong}).status_code == 400
    changed = api("patch", url, {"liveSaves": False}).json()
    assert (changed["liveSaves"], changed["status"]) == (False, "APPROVED")
    schema = {"type": "object", "properties": {"a": {"type": "string", "default": "x"}}}
    saved = save(api, first, {"blocks": [block(name="Ratings")], "settingsSchema": schema})
    assert {each["key"] for each in saved["reach"]["withNextVersion"]} == {"stars"}
    assert running(shop)["stars"]["name"] == "Star rating"
    assert running(shop).keys() == {"stars", "order.calculate_discounts"}, "a removal waits, too"
    assert running(sandbox).keys() == {"stars"}
    assert client_of(twenty[0]).get("/app-api/installation").json()["settings"] == {}

    app = approve(App.objects.get(pk=first.pk))
    new, old = new_of(twenty), next(each for each in map(seen, twenty) if not each.is_in_release)
    assert running(old.business)["stars"]["name"] == "Star rating"
    assert running(old.business).keys() == {"stars", "order.calculate_discounts"}
    assert running(new.business).keys() == {"stars"}
    assert running(new.business)["stars"]["name"] == "Ratings"
    api("patch", url, {"liveSaves": True})
    assert running(old.business).keys() == {"stars"}, "what was saved since is live"
    assert app.status == AppStatus.APPROVED


# --- Many stores, races and kills -----------------------------------------------------------------------


def test_kill_between_two_batches(
    rolling: App, twenty: list[Installation], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next round repairs it."""
    releases.advance(app=rolling)
    releases.advance(app=rolling)
    batches = 0

    def dies(**_: Any) -> None:
        nonlocal batches
        batches += 1
        if batches == 3:
            raise KeyboardInterrupt

    with connected(approval_followed, dies), pytest.raises(KeyboardInterrupt):
        approval.follow(version=AppVersion.objects.get(number=2), batch=4)
    assert batches == 3
    assert AppVersion.objects.get(number=2).followed_at is None
    follow_all()
    assert len(urls(twenty)[NEW]) == 5
    assert Release.objects.get(version__number=2).state == ReleaseState.ROLLING


@pytest.mark.spec(RELEASES, "A step that begins between two batches has all its stores")
def test_step_between_two_batches(api: Api, rolling: App, twenty: list[Installation]) -> None:
    releases.advance(app=rolling)
    batches = 0

    def advances(**_: Any) -> None:
        nonlocal batches
        batches += 1
        if batches == 4:
            assert api("post", path(rolling, "advance"), {}).json()["percent"] == 25

    with connected(approval_followed, advances):
        approval.follow(version=AppVersion.objects.get(number=2), batch=4)
    follow_all()
    assert api("get", path(rolling)).json()["stores"] == {"new": 5, "old": 15}
    assert len(urls(twenty)[NEW]) == 5
