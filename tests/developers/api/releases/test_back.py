"""A version that is taken back (contract, section 10)."""

from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from accounts.models import Business, User
from extensions.hooks.live import hooks_at
from extensions.in_store.capabilities import requested
from extensions.models import Breaker, Definition
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from installations.services import approval, approve_scopes
from installations.services.approval import follow_all
from marketplace.models import App, AppVersion, Release
from marketplace.services import reviews
from marketplace.services.findings import record_checks, submissions_to_check
from tests import factories
from tests.clients import Api, client_of
from tests.developers.api.releases.rolling import (
    BEFORE,
    NEW,
    OLD,
    POINT,
    RELEASES,
    agree,
    approve,
    call,
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
from tests.extensions.manifests import block, hook, script
from tests.installations import oauth_client
from tests.merchants.pages import installed, listed_app
from tests.pages import signed_in, text_of


def test_versions_are_written_first_and_a_killed_worker_loses_none(
    api: Api, first: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an approval for all stores, and of a version that is taken back: before the scopes of each store are looked at."""
    monkeypatch.setattr(approval, "RUNS_BATCH", 2)
    monkeypatch.setattr(approval, "_follow_batch", lambda *_: None)
    five, one_batch = stores(first, 5), approval._run_batch  # noqa: SLF001

    def numbers(column: str) -> list[int]:
        return sorted(Installation.objects.values_list(f"{column}__number", flat=True))

    def killed_after_one(version: AppVersion, after: UUID) -> UUID | None:
        if after != approval.FIRST:
            raise KeyboardInterrupt
        return one_batch(version, after)

    more = change(first, version="2.0.0")
    reviews.approve(submission=factories.submit(more), reviewer=factories.reviewer())
    with monkeypatch.context() as killed:
        killed.setattr(approval, "_run_batch", killed_after_one)
        with pytest.raises(KeyboardInterrupt):
            follow_all()
    assert numbers("runs") == [1, 1, 1, 2, 2]
    follow_all()
    assert numbers("runs") == [2] * 5
    Installation.objects.update(agreed_version=AppVersion.objects.get(number=2))
    assert api("post", path(more, "back"), {}).status_code == 200
    follow_all()
    assert (numbers("runs"), numbers("agreed_version"), len(five)) == ([1] * 5, [1] * 5, 5)


@pytest.mark.long
@pytest.mark.spec(
    RELEASES, "back: every store runs the version before, with its manifest, as far as it had agreed"
)
@pytest.mark.parametrize("mode", ["ALL", "STEPS"])
def test_back(api: Api, first: App, twenty: list[Installation], mode: str) -> None:
    save(api, first, {"blocks": [block(name="Ratings")], "hooks": [hook(timeout=200)]})
    app = approve(change(first, webhook_url=NEW, version="2.0.0", scopes=["read_products"]), mode)
    late = installed(app, factories.business(factories.merchant("l@example.com")))
    save(api, app, {"blocks": [block(name="Later")]})
    assert not hooks_at(twenty[0].business, POINT), "the save dropped it"
    new = seen(twenty[0]) if mode == "ALL" else new_of(twenty)
    definition = Definition.objects.get(key=POINT)
    Breaker.objects.create(installation=new, definition=definition, open_since=timezone.now())

    answer = api("post", path(app, "back"), {"reason": "Wrong prices"}).json()
    assert (answer["state"], answer["reason"], answer["stores"]) == (
        "TAKEN_BACK", "Wrong prices", {"new": 0, "old": 20},
    )  # fmt: skip
    for _ in range(2):  # a worker that died begins again
        AppVersion.objects.filter(number=1).update(followed_at=None)
        follow_all()
    returned = HistoryEntry.objects.filter(kind=HistoryKind.SCOPES_RETURNED)
    assert set(returned.values_list("installation", "note")) == {(each.pk, "read_orders") for each in twenty}
    assert len(returned) == 20
    assert urls(twenty)[OLD] == {each.pk for each in twenty}
    for each in twenty:
        assert running(each.business)["stars"]["name"] == "Star rating"
        assert running(each.business)["order.calculate_discounts"]["timeout"] == 5000
        assert seen(each).effective_scopes == ["read_products", "read_orders"]
        assert not seen(each).needs_reconsent
    assert seen(late).effective_scopes == ["read_products"]
    assert seen(late).needs_reconsent
    assert running(late.business)["stars"]["name"] == "Star rating"
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


@pytest.mark.long
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
    early = next(each for each in twenty if each not in (new, outside))
    for each in (new, outside, early):
        before.pop(each).delete()
        opened(each)
    in_its_step = {"runs": app.approved_version, "followed_at": timezone.now()}
    Installation.objects.filter(pk=early.pk).update(**in_its_step)
    of_another_app = factories.installation(factories.app(first.developer), new.business)
    opened(of_another_app)
    api("post", path(app, "back"), {})
    closed = {new, outside, early} if mode == "ALL" else {new}  # the others ran the version before
    assert {each.installation for each in Breaker.objects.all()} == {*twenty, of_another_app} - closed


@pytest.mark.long
@pytest.mark.spec(RELEASES, "back gives no store more than it had agreed to")
@pytest.mark.parametrize("mode", ["ALL", "STEPS"])
def test_back_without_a_yes(api: Api, first: App, twenty: list[Installation], mode: str) -> None:
    """In steps, at least one of the two that said yes never came in."""
    save(api, first, BEFORE | {"embeds": [script()]})
    approve(change(first, version="2.0.0"), "ALL")
    for each in twenty[:2]:
        approve_scopes(installation=seen(each), user=each.business.owner)
    save(api, first, BEFORE)
    app = approve(change(first, version="3.0.0"), mode)
    AppVersion.objects.update(followed_at=None)  # a worker that died begins again
    follow_all()
    if mode == "ALL":
        assert len({seen(each).agreed_version_id for each in twenty}) == 1, "the third asks for nothing"
    api("post", path(app, "back"), {})
    follow_all()
    assert [("counter" in running(each.business)) for each in twenty[:4]] == [True, True, False, False]
    assert [len(requested(seen(each)).capabilities) for each in twenty[:4]] == [0, 0, 1, 1]


@pytest.mark.long
@pytest.mark.spec(
    RELEASES, "back: every store runs the version before, with its manifest, as far as it had agreed"
)
def test_back_between_the_two_rounds_of_a_worker(
    api: Api, first: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It found the version before overtaken. So no batch has written what stores run when it comes to each store."""
    (store,), begin = stores(first, 1), approval.begin
    save(api, first, BEFORE | {"embeds": [script()]})
    approve(change(first, version="2.0.0"), "ALL")
    approve_scopes(installation=seen(store), user=store.business.owner)
    save(api, first, BEFORE)
    app = approve(change(first, version="3.0.0"), "ALL")
    AppVersion.objects.filter(number=2).update(followed_at=None)

    def then_back(**options: Any) -> None:
        begin(**options)
        assert api("post", path(app, "back"), {}).status_code == 200

    with monkeypatch.context() as moved:
        moved.setattr(approval, "begin", then_back)
        follow_all()
    assert seen(store).runs == seen(store).agreed_version == AppVersion.objects.get(number=2)
    assert "counter" in running(store.business)
    assert not requested(seen(store)).capabilities


@pytest.mark.long
@pytest.mark.spec(RELEASES, "back gives no store more than it had agreed to")
def test_back_before_the_version_was_followed(api: Api, first: App) -> None:
    """The newer version came at once. A store was asked for a scope in its time, and only asked."""
    (store,) = stores(first, 1)
    more = ["read_products", "read_orders", "read_pages"]
    submission = factories.submit(change(first, version="2.0.0", scopes=more))
    reviews.approve(submission=submission, reviewer=factories.reviewer())
    app = approve(change(first, version="3.0.0"), "ALL")
    assert seen(store).needs_reconsent
    api("post", path(app, "back"), {})
    follow_all()
    assert seen(store).effective_scopes == ["read_products", "read_orders"]
    assert seen(store).needs_reconsent


@pytest.mark.long
@pytest.mark.spec(
    RELEASES, "back: every store runs the version before, with its manifest, as far as it had agreed"
)
def test_back_in_a_store_that_was_authorized_twice(api: Api, first: App, twenty: list[Installation]) -> None:
    save(api, first, {"blocks": [block()]})
    app = approve(change(first, version="2.0.0"))
    came_in = old_of(twenty)
    assert app.approved_version
    for _ in range(2):
        agree(came_in, app.approved_version)
    api("post", path(app, "back"), {})
    follow_all()
    assert running(came_in.business).keys() == {"stars", POINT}


@pytest.mark.long
@pytest.mark.spec(
    RELEASES, "Scopes of a version that was taken back weren't offered to those who agree afterwards"
)
def test_scope_named_after_back(api: Api, first: App, twenty: list[Installation]) -> None:
    """The app names some of the scopes that are offered then. A scope that a later version adds was not left out."""
    more = ["read_products", "read_orders", "read_pages"]
    app = approve(change(first, version="2.0.0", scopes=more), "ALL")
    api("post", path(app, "back"), {})
    follow_all()
    merchant = twenty[0].business.owner
    assert oauth_client.code_for(merchant, App.objects.get(pk=app.pk), scope="read_products")
    approve(change(app, version="3.0.0", scopes=more), "ALL")
    seen_by_app = client_of(twenty[0]).get("/app-api/installation").json()
    assert (seen_by_app["scopes"], seen_by_app["needsReConsent"]) == (["read_products"], True)
    page = text_of(signed_in(merchant).get(f"/merchant/apps/{twenty[0].pk}/permissions/"))
    asked = page.index("See the pages of your store"), page.find("See your orders")
    assert asked[1] == -1, "it was left out on purpose"


@pytest.mark.long
@pytest.mark.spec(
    RELEASES,
    "What a version asks for is asked again after the next one, which had dropped it, was taken back",
)
def test_question_after_back(api: Api, first: App, twenty: list[Installation]) -> None:
    less, more = ["read_products"], ["read_products", "read_orders", "read_pages"]
    approve(change(first, version="1.5.0", scopes=less), "ALL")
    app = approve(change(first, version="2.0.0", scopes=more), "ALL")
    for each in twenty[1:3]:
        agree(each, AppVersion.objects.get(number=3))
    app = approve(change(app, version="3.0.0", scopes=less), "ALL")
    agree(twenty[2], AppVersion.objects.get(number=4))
    api("post", path(app, "back"), {})
    follow_all()
    assert [seen(each).effective_scopes for each in twenty[:3]] == [less, more, less]
    browser, page = signed_in(twenty[0].business.owner), f"/merchant/apps/{twenty[0].pk}/permissions/"
    assert "See the pages of your store" in text_of(browser.get(page))
    browser.post(page, {"answer": "approve", "version": "3"})
    seen_by_app = client_of(twenty[0]).get("/app-api/installation").json()
    assert seen_by_app["scopes"] == ["read_products", "read_orders", "read_pages"]
    assert not seen_by_app["needsReConsent"]


@pytest.mark.long
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


@pytest.mark.long
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
    assert api("post", f"/developer/apps/{app.pk}/versions/2/restore", {}).status_code == 200
    versions = api("get", f"/developer/apps/{app.pk}/versions").json()["data"]
    assert [each["number"] for each in versions if each["isTakenBack"]] == [3]


@pytest.mark.long
def test_back_leaves_what_stores_of_other_apps_follow(
    api: Api, first: App, shop: Business, sam: User
) -> None:
    """A version of another app was approved just before."""
    app = approve(change(first, version="2.0.0"), "ALL")
    other = listed_app(sam, ["read_products"], name="Other")
    asked = installed(other, shop)
    newer = change(other, version="2.0.0", scopes=["read_products", "read_pages"])
    reviews.approve(submission=factories.submit(newer), reviewer=factories.reviewer())
    api("post", path(app, "back"), {})
    follow_all()
    assert seen(asked).needs_reconsent


@pytest.mark.long
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
    assert {seen(each).followed_at for each in twenty} == {Release.objects.get(version__number=2).started_at}


@pytest.mark.long
def test_release_of_a_version_that_was_only_replaced(
    api: Api, first: App, twenty: list[Installation]
) -> None:
    """By an earlier one. Then it isn't taken back, since it doesn't run; put back again, its release is the one that it was."""
    app = approve(change(first, version="2.0.0"), "ALL")
    was = api("get", path(app)).json()
    versions = f"/developer/apps/{app.pk}/versions"
    assert api("post", f"{versions}/1/restore", {}).status_code == 200
    refused = api("post", path(app, "back"), {})
    assert (refused.status_code, refused.headers["X-Error-Code"]) == (409, "version_not_running")
    assert api("post", f"{versions}/2/restore", {}).status_code == 200
    assert api("get", path(app)).json() == was


@pytest.mark.long
def test_back_during_a_review(api: Api, first: App, twenty: list[Installation], dana: User) -> None:
    """The submission that the reviewer decides on is compared with the version that runs, and checked again. A decision stays."""
    app = approve(change(first, version="2.0.0", scopes=["read_products"]), "ALL")
    change(app, version="3.0.0", scopes=["read_products", "read_orders"])
    assert api("post", f"/developer/apps/{app.pk}/submit", {}).status_code == 201
    review = f"/portal/apps/{app.slug}/review/"
    assert "New scopes" in text_of(signed_in(dana).get(review))
    waiting = app.submissions.get(status="PENDING_REVIEW")
    record_checks(submission=waiting, results=[])
    assert not submissions_to_check()
    api("post", path(app, "back"), {})
    assert "New scopes" not in text_of(signed_in(dana).get(review))
    assert submissions_to_check() == [waiting.pk]
    made = api("get", f"/developer/apps/{app.pk}/submissions").json()["data"]
    assert [(each["version"], each["removedScopes"]) for each in made[:2]] == [
        ("3.0.0", []), ("2.0.0", ["read_orders"]),
    ]  # fmt: skip
