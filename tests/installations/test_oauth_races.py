"""One code, used by many at once and once more later, on servers that answer with threads; and events in between
a consent or an exchange and its locks."""

import http.client
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from django.db import connections, transaction
from django.utils import timezone
from waitress.server import create_server

from accounts.models import Business, User
from accounts.services.deletion import delete_account
from config.wsgi import application
from installations.enums import HistoryKind
from installations.models import Grant, HistoryEntry, Installation
from installations.services import approval, uninstall
from marketplace.models import App
from marketplace.services.apps import update_app
from marketplace.services.members import MEMBERS
from tests import factories
from tests.installations.oauth_client import FORM, address, basic, browser, call, code_for, exchange
from tests.merchants.pages import page_of
from tests.pages import signed_in
from tests.servers import serving
from tests.waiting import wait_for_locks

pytestmark = pytest.mark.django_db(transaction=True)

AT_ONCE = 32


@pytest.fixture(params=[8, AT_ONCE], ids="{} threads".format)
def server(
    request: pytest.FixtureRequest, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The server of the demo, whose eight threads leave most of them in a queue; and one with a thread for each."""
    monkeypatch.setitem(connections.databases["default"], "CONN_MAX_AGE", 0)
    server = create_server(application, host="127.0.0.1", port=0, threads=request.param)

    with serving(server):
        yield f"http://127.0.0.1:{server.effective_port}"


def exchange_at_once(server: str, app: App, code: str) -> list[tuple[int, dict[str, Any]]]:
    """As many as there are, over connections that are open before the first one is sent."""
    barrier = threading.Barrier(AT_ONCE)
    body = urlencode({"grant_type": "authorization_code", "code": code, "redirect_uri": app.redirect_url})
    headers = {"Authorization": basic(app), "Content-Type": FORM}

    def send(_: int) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection(urlsplit(server).netloc, timeout=60)
        connection.connect()
        barrier.wait(30)
        connection.request("POST", "/oauth/token", body, headers)
        response = connection.getresponse()
        answer = response.status, json.loads(response.read())
        connection.close()
        return answer

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(send, range(AT_ONCE)))


@pytest.mark.long
@pytest.mark.spec("Contract 3 OAuth", "A code works once, however many use it at the same moment")
@pytest.mark.spec("Contract 3 OAuth", "A use that arrives while the first is being answered is only refused")
@pytest.mark.spec(
    "Contract 3 OAuth", "A further use after the first was answered ends the token that it gave"
)
def test_one_of_many_exchanges_at_once_gets_a_token_that_lives_until_a_later_one(
    server: str, listed: App, mira: User, shop: Business
) -> None:
    code = code_for(mira, listed)
    answers = exchange_at_once(server, listed, code)
    assert Counter(status for status, _ in answers) == {200: 1, 400: AT_ONCE - 1}
    assert {body["error"] for status, body in answers if status == 400} == {"invalid_grant"}
    installation = Installation.objects.get()
    assert installation.business == shop
    token = next(body["access_token"] for status, body in answers if status == 200)
    assert call(token).status_code == 200

    later = exchange(listed, code)
    assert (later.status_code, later.json()["error"]) == (400, "invalid_grant")
    assert call(token).status_code == 401
    installation.refresh_from_db()
    assert installation.is_active
    history = HistoryEntry.objects.filter(installation=installation).order_by("at", "id")
    assert [each.kind for each in history] == [HistoryKind.INSTALLED, HistoryKind.TOKEN_ENDED]


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.spec("Contract 3 OAuth", "Further uses that overlap within ten seconds are only refused")
def test_two_overlapping_replays_soon_after_the_exchange_leave_the_token_alive(
    listed: App, mira: User, shop: Business
) -> None:
    code = code_for(mira, listed)
    token = exchange(listed, code).json()["access_token"]
    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            Grant.objects.select_for_update().get()
            replays = []
            for waiting in (1, 2):
                replays.append(pool.submit(in_thread, lambda: exchange(listed, code)))
                wait_for_locks(waiting)
        assert [each.result(30).json()["error"] for each in replays] == ["invalid_grant"] * 2
    assert call(token).status_code == 200
    assert exchange(listed, code).json()["error"] == "invalid_grant"
    assert call(token).status_code == 401


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.spec("Contract 3 OAuth", "A use that arrives while the first is being answered is only refused")
def test_uses_that_wait_in_vain_for_the_first_are_refused_and_one_alone_may_come_again(
    listed: App, mira: User, shop: Business
) -> None:
    code = code_for(mira, listed)
    with ThreadPoolExecutor(2) as pool, transaction.atomic():
        Grant.objects.select_for_update().get()
        uses = [pool.submit(in_thread, lambda: exchange(listed, code)) for _ in range(2)]
        answers = [each.result(30) for each in uses]
        assert [each.status_code for each in answers] == [400] * 2
        assert {each.json()["error"] for each in answers} == {"invalid_grant"}
        alone = pool.submit(in_thread, lambda: exchange(listed, code)).result(30)
        assert (alone.status_code, alone.json()["error"]) == (503, "temporarily_unavailable")
        assert alone["Retry-After"]
    assert call(exchange(listed, code).json()["access_token"]).status_code == 200


@pytest.mark.long
def test_codes_of_two_consents_exchanged_at_once_make_one_installation(
    listed: App, mira: User, shop: Business
) -> None:
    codes = [code_for(mira, listed) for _ in range(4)]
    barrier = threading.Barrier(4)

    def send(code: str) -> tuple[int, str]:
        barrier.wait(30)
        response = exchange(listed, code)
        connections.close_all()
        return response.status_code, response.json()["access_token"]

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(send, codes))
    assert [status for status, _ in answers] == [200] * 4
    assert Installation.objects.count() == 1
    assert sorted(call(token).status_code for _, token in answers) == [200, 401, 401, 401]


# --- In between ----------------------------------------------------------------------------------


ONE, TWO = ["read_products"], ["read_products", "read_orders"]


def in_thread(send: Callable[[], Any]) -> Any:
    try:
        return send()
    finally:
        connections.close_all()


def overtaken(change: Callable[[], object], send: Callable[[], Any]) -> Any:
    """The answer to a request that finds the app as it was, and comes to a lock before `change` is committed."""

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            change()
            answered = pool.submit(in_thread, send)
            wait_for_locks(1, or_until=answered.done)
        return answered.result(30)


def approve_two(app: App) -> None:
    """An approval that asks for more, and that all installations have followed."""
    approval.follow(version=factories.approve(app, scopes=TWO))


def consent_to(user: User, app: App) -> Callable[[], Any]:
    """Press **Install** on a page that is open already."""
    client, path = browser(user), address(app)
    scopes = client.get(path).context["page"].scopes
    return lambda: client.post(path, {"scopes": " ".join(scopes), "answer": "install"})


@pytest.mark.long
@pytest.mark.postgres
def test_exchange_that_an_approval_overtakes_is_asked_for_the_rest(
    app: App, mira: User, shop: Business
) -> None:
    factories.approve(app, scopes=ONE)
    code = code_for(mira, app)
    answered = overtaken(lambda: approve_two(app), lambda: exchange(app, code))
    assert answered.json()["scope"] == "read_products"
    assert Installation.objects.get().needs_reconsent


@pytest.mark.long
@pytest.mark.postgres
def test_consent_that_an_approval_overtakes_is_asked_for_anew(app: App, mira: User, shop: Business) -> None:
    factories.approve(app, scopes=ONE)
    installed = factories.installation(app, shop, granted_scopes=ONE)
    answered = overtaken(lambda: approve_two(app), consent_to(mira, app))
    assert answered.status_code == 422
    assert b"changed while this page was open" in answered.content
    assert answered.context["page"].scopes == TWO
    installed.refresh_from_db()
    assert installed.needs_reconsent
    assert not Grant.objects.exists()


@pytest.mark.long
@pytest.mark.postgres
def test_consent_that_a_change_of_the_working_copy_overtakes_is_asked_for_again(app: App, dana: User) -> None:
    update_app(app=app, changes={"scopes": ONE})
    answered = overtaken(lambda: update_app(app=app, changes={"scopes": TWO}), consent_to(dana, app))
    assert answered.status_code == 422
    assert answered.context["page"].scopes == TWO
    assert not Grant.objects.exists()


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.spec("Contract 2 Reach", "An approval at the moment of a consent is not agreed to with it")
def test_consent_that_an_approval_with_the_same_scopes_overtakes_is_asked_for_again(
    app: App, mira: User, shop: Business
) -> None:
    factories.approve(app, scopes=ONE)
    installed = factories.installation(app, shop, granted_scopes=ONE)
    shown = installed.agreed_version_id
    answered = overtaken(lambda: factories.approve(app, scopes=ONE), consent_to(mira, app))
    assert answered.status_code == 422
    installed.refresh_from_db()
    assert installed.agreed_version_id == shown
    assert not Grant.objects.exists()


@pytest.mark.long
@pytest.mark.postgres
def test_answer_about_permissions_that_an_approval_overtakes_tells_of_it(
    app: App, mira: User, shop: Business
) -> None:
    factories.approve(app, scopes=ONE)
    asking = factories.installation(app, shop, granted_scopes=ONE)
    approve_two(app)
    client, path = browser(mira), page_of(asking, "permissions/")
    answered = overtaken(
        lambda: factories.approve(app, scopes=[*TWO, "read_pages"]),
        lambda: client.post(path, {"answer": "approve", "version": "2"}, follow=True),
    )
    assert answered.redirect_chain == [(page_of(asking), 302)]
    assert b"The app has a newer version. Review what it asks for now." in answered.content
    asking.refresh_from_db()
    assert asking.granted_scopes == ONE


@pytest.mark.postgres
@pytest.mark.spec("Contract 2 Reach", "An approval at the moment of a consent is not agreed to with it")
def test_yes_to_a_version_that_an_approval_overtakes_is_refused(app: App, mira: User, shop: Business) -> None:
    factories.approve(app, scopes=ONE)
    installed = factories.installation(app, shop, granted_scopes=ONE)
    approve_two(app)
    client, path = signed_in(mira), f"/merchant/apps/{installed.pk}/permissions/"
    answered = overtaken(
        lambda: factories.approve(app, scopes=TWO),
        lambda: client.post(path, {"answer": "approve", "version": "2"}, follow=True),
    )
    assert b"The app has a newer version." in answered.content
    installed.refresh_from_db()
    assert (installed.needs_reconsent, installed.granted_scopes) == (True, ONE)


@pytest.mark.postgres
@pytest.mark.parametrize("column", ["suspended_at", "deleted_at"])
@pytest.mark.parametrize("who", ["mira", "dana"])
def test_exchange_that_a_suspension_overtakes_installs_nothing(
    listed: App, who: str, column: str, mira: User, dana: User, shop: Business
) -> None:
    code = code_for({"mira": mira, "dana": dana}[who], listed)
    answered = overtaken(lambda: end(listed, column), lambda: exchange(listed, code))
    assert (answered.status_code, answered.json()["error"]) == (400, "invalid_grant")
    assert not Installation.objects.exists()


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("column", "status", "told"),
    [("suspended_at", 403, b"suspended"), ("deleted_at", 400, b"No app has the client_id of this link")],
)
@pytest.mark.parametrize("who", ["mira", "dana"])
def test_consent_that_a_suspension_overtakes_is_a_page(
    listed: App, who: str, column: str, status: int, told: bytes, mira: User, dana: User, shop: Business
) -> None:
    user = {"mira": mira, "dana": dana}[who]
    answered = overtaken(lambda: end(listed, column), consent_to(user, listed))
    assert answered.status_code == status
    assert told in answered.content
    assert not Grant.objects.exists()


@pytest.mark.long
@pytest.mark.postgres
def test_exchange_that_an_uninstall_overtakes_installs_nothing(
    listed: App, mira: User, shop: Business
) -> None:
    installed = factories.installation(listed, shop)
    code = code_for(mira, listed)
    answered = overtaken(lambda: uninstall(installation=installed), lambda: exchange(listed, code))
    assert (answered.status_code, answered.json()["error"]) == (400, "invalid_grant")
    assert not Installation.objects.active().exists()


def end(app: App, column: str) -> None:
    App.objects.filter(pk=app.pk).update(**{column: timezone.now()})


@pytest.mark.postgres
def test_account_whose_app_is_being_installed_stays(
    listed: App, dana: User, mira: User, shop: Business
) -> None:
    code = code_for(mira, listed)
    deleting = signed_in(dana)
    answered = overtaken(
        lambda: exchange(listed, code),
        lambda: deleting.post("/accounts/profile/delete/", {"email": dana.email}),
    )
    assert answered.status_code == 409
    assert b"is installed in 1 store" in answered.content
    assert Installation.objects.active().get().business == shop
    assert User.objects.filter(pk=dana.pk, deleted_at=None).exists()


@pytest.mark.postgres
@pytest.mark.parametrize("leave", ["deletes the account", "is removed"])
def test_app_is_not_locked_while_who_leaves_waits_for_their_codes(
    app: App, sam: User, dana: User, leave: str
) -> None:
    """An exchange locks the code first: the other way round, the two could wait for each other."""
    row = factories.member(app, sam)
    code_for(sam, app)

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Grant.objects.select_for_update().get()  # as an exchange begins
            if leave == "is removed":
                left = pool.submit(in_thread, lambda: MEMBERS.remove(app, by=dana, member_id=row.pk))
            else:
                left = pool.submit(in_thread, lambda: delete_account(user=sam))
            wait_for_locks(1, or_until=left.done)
            assert App.objects.select_for_update(nowait=True).get() == app
        left.result(30)
