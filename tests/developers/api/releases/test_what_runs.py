"""What stores run while a release is open, and without `liveSaves` (contract, section 10)."""

from typing import Any

import pytest

from accounts.models import Business, User
from extensions.in_store.capabilities import open_requests
from extensions.models import LiveDefinition, ReachRequest
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from installations.services import approval, approve_scopes, uninstall
from installations.services.approval import follow_all
from installations.signals import approval_followed
from marketplace.enums import AppStatus, ReleaseState
from marketplace.models import App, AppVersion, Release
from marketplace.services import releases, reviews
from tests import factories
from tests.clients import Api, client_of
from tests.developers.api.releases.rolling import (
    BEFORE,
    NEW,
    OLD,
    RELEASES,
    agree,
    approve,
    change,
    new_of,
    old_of,
    path,
    running,
    save,
    seen,
    stores,
    urls,
)
from tests.extensions.manifests import block, script
from tests.installations import oauth_client
from tests.merchants.pages import installed
from tests.signals import connected

pytestmark = pytest.mark.long


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
    assert not HistoryEntry.objects.exclude(kind=HistoryKind.INSTALLED).exists(), "the scopes are the same"


@pytest.mark.spec(RELEASES, "About so many per cent, at least one; a step only adds stores")
def test_step_keeps_its_stores_when_others_leave(api: Api, rolling: App, twenty: list[Installation]) -> None:
    """Also those that haven't followed yet when it begins again."""
    for name in ("advance", "advance"):
        api("post", path(rolling, name), {})
    release = Release.objects.get(version__number=2)
    for each in twenty:
        if not release.includes(each.pk):
            uninstall(installation=each)
    for name in ("halt", "resume"):
        api("post", path(rolling, name), {})
    follow_all()
    assert api("get", path(rolling)).json()["stores"] == {"new": 5, "old": 0}
    for each in twenty:
        if release.includes(each.pk):
            uninstall(installation=each)
    assert api("post", path(rolling, "halt"), {}).status_code == 200
    assert api("post", path(rolling, "resume"), {}).json()["stores"] == {"new": 0, "old": 0}


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
def test_conversion(
    api: Api, first: App, twenty: list[Installation], sandbox: Business, sam: User, halted: bool
) -> None:
    """Of another developer. The one on its own sandbox was converted before. They are in no number."""
    own = factories.installation(first, sandbox, is_test=False)
    test = factories.installation(first, Business.objects.sandbox_of(sam), is_test=True)
    app = change(first, webhook_url=NEW, version="2.0.0")
    reviews.approve(submission=factories.submit(app, release="STEPS"), reviewer=factories.reviewer())
    Release.objects.update(bound=0)  # nothing is in by its place
    if halted:
        releases.halt(app=app)
    follow_all()
    now = seen(test)
    assert (now.is_test, now.webhook_url) == (False, OLD if halted else NEW)
    assert seen(own).webhook_url == now.webhook_url
    assert sum(api("get", path(app)).json()["stores"].values()) == 20


@pytest.mark.spec(RELEASES, "Definitions, scopes and questions of a store whose step hasn't come")
def test_scopes_and_definitions(api: Api, first: App, twenty: list[Installation]) -> None:
    save(api, first, BEFORE | {"embeds": [script()]})
    app = approve(change(first, scopes=["read_products", "read_reviews"], version="2.0.0"))
    new, old = new_of(twenty), next(each for each in map(seen, twenty) if not each.is_in_release)
    for each in (new, old):
        assert each.effective_scopes == ["read_products"], "removed at once everywhere"
        assert each.history.filter(kind=HistoryKind.SCOPES_REMOVED, note="read_orders").count() == 1
        assert "counter" not in running(each.business)
    assert (new.needs_reconsent, new.missing_scopes) == (True, ["read_reviews"])
    assert (old.needs_reconsent, old.missing_scopes, old.is_behind) == (False, [], False)
    approve_scopes(installation=new, user=new.business.owner)
    api("post", path(app, "advance"), {})
    follow_all()
    assert seen(new).effective_scopes == ["read_products", "read_reviews"]
    assert "counter" in running(new.business)
    for each in twenty[:2]:
        found = client_of(each).get("/app-api/installation").json()
        assert found["scopes"] == seen(each).effective_scopes
    api("post", path(app, "halt"), {})
    assert seen(new).effective_scopes == ["read_products", "read_reviews"], "none goes back"
    assert seen(old).effective_scopes == ["read_products"], "what was lost stays lost"


@pytest.mark.spec(RELEASES, "Definitions, scopes and questions of a store whose step hasn't come")
def test_scopes_of_a_version_that_is_halted_at_once(first: App, twenty: list[Installation]) -> None:
    """Before a worker came. A merchant who agrees to the version before has its scopes again, as long as it is halted."""
    app = change(first, scopes=["read_products"], version="2.0.0")
    reviews.approve(submission=factories.submit(app, release="STEPS"), reviewer=factories.reviewer())
    releases.halt(app=app)
    before, after = AppVersion.objects.order_by("number")
    early, late = twenty[:2]
    Installation.objects.filter(pk=early.pk).update(consented_at=after.approved_at)
    agree(late, before)
    follow_all()
    assert seen(early).effective_scopes == ["read_products"]
    assert seen(late).effective_scopes == ["read_products", "read_orders"]
    releases.resume(app=app, by=app.developer)
    follow_all()
    releases.halt(app=app)
    assert seen(late).effective_scopes == ["read_products"], "what was lost stays lost"


@pytest.mark.spec(RELEASES, "A store that authorizes by itself agrees to the newest version and is in")
def test_comes_in_by_consent(rolling: App, twenty: list[Installation]) -> None:
    new, old = new_of(twenty), old_of(twenty)
    version = App.objects.get(pk=rolling.pk).approved_version
    assert version
    agree(old, version)
    assert urls([old])[NEW] == {old.pk}
    entries = HistoryEntry.objects.count()
    agree(new, version)
    assert HistoryEntry.objects.count() == entries, "the version asked it for nothing more"


@pytest.mark.spec(RELEASES, "None comes in while HALTED, also if its merchant agreed to the version before")
def test_halted_between_the_consent_and_the_token(api: Api, first: App, twenty: list[Installation]) -> None:
    """Its merchant isn't asked again when it comes in later."""
    save(api, first, BEFORE | {"embeds": [script()]})
    app = change(first, version="2.0.0", webhook_url=NEW)
    app.client_secret = oauth_client.SECRET
    app.save()
    reviews.approve(submission=factories.submit(app, release="STEPS"), reviewer=factories.reviewer())
    merchant = factories.merchant("l@example.com")
    code = oauth_client.code_for(merchant, App.objects.get(pk=app.pk))
    releases.halt(app=app)
    assert oauth_client.exchange(app, code).status_code == 200
    follow_all()
    late = Installation.objects.get(business__owner=merchant)
    assert urls([late])[OLD] == {late.pk}
    for call in ("resume", "advance", "advance", "advance"):
        assert api("post", path(app, call), {}).status_code == 200
    follow_all()
    assert urls([late])[NEW] == {late.pk}
    assert not open_requests([late])
    assert "counter" in running(late.business)


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
    by_pk = {each.pk: each for each in twenty}  # with their tokens
    defaults = [
        client_of(by_pk[each.pk]).get("/app-api/installation").json()["settings"] for each in (new, old)
    ]
    assert defaults == [{"a": "x"}, {}], "defaults come with the step, too"
    api("patch", url, {"liveSaves": True})
    assert running(old.business).keys() == {"stars"}, "what was saved since is live"
    assert app.status == AppStatus.APPROVED


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
