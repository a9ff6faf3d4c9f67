"""Scopes that an app named at a consent, before and during a release: what was left out on purpose isn't asked for later."""

from typing import Any

import pytest

from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App
from marketplace.services import reviews
from tests import factories
from tests.clients import Api, client_of
from tests.developers.api.releases.rolling import NEW, RELEASES, approve, change, old_of, path, seen, stores
from tests.installations import oauth_client
from tests.pages import signed_in

ONE, TWO = ["read_products"], ["read_products", "read_orders"]
THREE = [*TWO, "read_pages"]


@pytest.fixture
def three(first: App) -> list[Installation]:
    return stores(first, 3)


def name(app: App, each: Installation, *scopes: str) -> None:
    """Its merchant agrees on the consent page, to which the app sends with these scopes."""
    app = App.objects.get(pk=app.pk)
    assert oauth_client.code_for(each.business.owner, app, scope=" ".join(scopes))


def question(each: Installation) -> Any:
    """The one on the merchant's page; None if nothing is asked."""
    page = signed_in(each.business.owner).get(f"/merchant/apps/{each.pk}/permissions/")
    return page.context["question"] if page.status_code == 200 else None


def asked(each: Installation) -> set[str]:
    """The scopes that the page asks for; `needsReConsent` says the same."""
    found, shown = client_of(each).get("/app-api/installation").json(), question(each)
    names = {scope.name for scope, _ in shown.added} if shown else set()
    assert found["needsReConsent"] == bool(names)
    return names


def answer(each: Installation, text: str = "approve") -> None:
    fields = {"answer": text, "version": question(each).version}
    url = f"/merchant/apps/{each.pk}/permissions/"
    assert signed_in(each.business.owner).post(url, fields).status_code == 302


def go_on(api: Api, app: App, *calls: str) -> None:
    for call in calls:
        assert api("post", path(app, call), {}).status_code == 200
        follow_all()


TO_THE_END = ("advance",) * 3


@pytest.mark.long
@pytest.mark.spec(RELEASES, "Scopes of a halted version weren't offered to those who agree meanwhile")
def test_named_while_halted(api: Api, first: App, three: list[Installation]) -> None:
    app = approve(change(first, version="2.0.0", scopes=THREE))
    go_on(api, app, "halt")
    store = next(each for each in three if each.pk == old_of(three).pk)
    name(app, store, *ONE)
    go_on(api, app, "resume", *TO_THE_END)
    assert asked(store) == {"read_pages"}


@pytest.mark.long
def test_in_while_halted(api: Api, first: App, three: list[Installation]) -> None:
    app = approve(change(first, version="2.0.0", scopes=THREE))
    inside = next(each for each in three if each.pk != old_of(three).pk and asked(each))
    go_on(api, app, "halt")
    name(app, inside, *ONE)
    assert asked(inside) == {"read_pages"}
    go_on(api, app, "resume", *TO_THE_END)
    assert asked(inside) == {"read_pages"}


@pytest.mark.long
@pytest.mark.parametrize("end", ["complete", "back"])
def test_answer_before_its_step(api: Api, first: App, three: list[Installation], end: str) -> None:
    """The page shows the version that the store runs."""
    for each in three:  # the step may have any of them
        name(first, each, *ONE)
    app = approve(change(first, version="2.0.0", scopes=THREE), "ALL")
    more = [*THREE, "read_reviews"]
    app = approve(change(app, version="3.0.0", scopes=more))
    store = next(each for each in three if each.pk == old_of(three).pk)
    assert asked(store) == {"read_pages"}
    answer(store)
    assert asked(store) == set()
    if end == "complete":
        go_on(api, app, *TO_THE_END)
    else:
        go_on(api, app, "back")
        assert asked(store) == set()
        approve(change(app, version="4.0.0", scopes=more), "ALL")
    assert asked(store) == {"read_reviews"}


@pytest.mark.long
@pytest.mark.parametrize("followed", [True, False])
@pytest.mark.parametrize("last", [THREE, TWO])
def test_asked_outside_the_release(
    first: App, three: list[Installation], followed: bool, last: list[str]
) -> None:
    """For what the version before asks, also if no worker came between the two; without what the newest drops."""
    more = change(first, version="2.0.0", scopes=[*THREE, "read_reviews"])
    reviews.approve(submission=factories.submit(more), reviewer=factories.reviewer())
    if followed:
        follow_all()
        assert asked(three[0]) == {"read_pages", "read_reviews"}
    approve(change(first, version="3.0.0", scopes=last))
    store = next(each for each in three if each.pk == old_of(three).pk)
    assert asked(store) == set(last) - set(TWO)


def test_yes_before_the_worker(first: App, three: list[Installation]) -> None:
    """The version that the merchant was shown runs at once, also if the approval's worker hasn't come to the store."""
    more = change(first, version="2.0.0", scopes=THREE)
    reviews.approve(submission=factories.submit(more), reviewer=factories.reviewer())
    name(more, three[0], *THREE)
    assert [seen(each).shown_version for each in three[:2]] == ["2.0.0", first.version]
    assert client_of(three[0]).get("/app-api/installation").json()["scopes"] == THREE


@pytest.mark.long
def test_named_in_its_step(api: Api, first: App, three: list[Installation]) -> None:
    """A scope that the merchant was shown and the app didn't name stays left out, also after the version was taken back and came again."""
    app = approve(change(first, version="2.0.0", scopes=THREE))
    store = next(each for each in three if each.pk == old_of(three).pk)
    name(app, store, *TWO)
    go_on(api, app, "back")
    assert asked(store) == set()
    approve(change(app, version="3.0.0", scopes=THREE), "ALL")
    assert asked(store) == set()
    assert asked(three[0] if three[0].pk != store.pk else three[1]) == {"read_pages"}


@pytest.mark.long
def test_declined_before_its_step(api: Api, first: App, three: list[Installation]) -> None:
    """A merchant who declines what the version of their store asks for has not declined what the next one adds: the banner asks for it."""
    app = approve(change(first, version="2.0.0", scopes=THREE), "ALL")
    app = approve(change(app, version="3.0.0", scopes=[*THREE, "read_reviews"]))
    store = next(each for each in three if each.pk == old_of(three).pk)
    answer(store, "decline")
    assert asked(store) == {"read_pages"}
    assert question(store).rests
    go_on(api, app, *TO_THE_END)
    assert asked(store) == {"read_pages", "read_reviews"}
    assert not question(store).rests


@pytest.mark.long
def test_declined_before_back(api: Api, first: App, three: list[Installation]) -> None:
    """The merchant was asked about the version before, and is not mailed about it again when it is back."""
    app = approve(change(first, version="2.0.0", scopes=THREE))
    go_on(api, app, *TO_THE_END)
    answer(three[0], "decline")
    app = approve(change(app, version="3.0.0", scopes=THREE, webhook_url=NEW), "ALL")
    go_on(api, app, "back")
    assert asked(three[0]) == {"read_pages"}
    assert question(three[0]).rests
