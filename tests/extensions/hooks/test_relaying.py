"""Hook calls as rows, between a checkout and the app's listener."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from accounts.models import Business, User
from common.http.exchanges import Exchange
from common.ids import new_id
from common.processes import wakeups
from common.processes.wakeups import LocalWakeups
from extensions.hooks import relaying
from extensions.hooks.calling import SignedRequest
from extensions.hooks.relaying import Handed, Relayed
from extensions.models import RelayedCall
from installations.models import Installation
from marketplace.models import App
from tests import factories
from webhooks.engine import listeners

SLOT = 7
OK = Exchange(200, {}, b"thanks", True, 3, None)


class Hints(LocalWakeups):
    """Keeps who was woken, and who waited how long."""

    def __init__(self) -> None:
        super().__init__()
        self.woken: list[str] = []
        self.waits: list[tuple[str, float]] = []

    def wake(self, name: str) -> None:
        self.woken.append(name)
        super().wake(name)

    def wait(self, name: str, seconds: float) -> None:
        self.waits.append((name, seconds))
        super().wait(name, seconds)


@pytest.fixture
def hints(monkeypatch: pytest.MonkeyPatch) -> Hints:
    found = Hints()
    monkeypatch.setattr(wakeups, "shared", lambda: found)
    return found


def begun(installation: Installation, *, seconds: float = 5.0, url: str = "https://a.example/") -> Relayed:
    request = SignedRequest(new_id(), b"{}", {"X-Webhook-Timestamp": "1"})
    return relaying.begin(installation.app_id, installation.pk, SLOT, url, request, seconds=seconds)


def taken(app: App) -> Handed:
    (handed,) = relaying.take(app, store=None)
    return handed


def at(monkeypatch: pytest.MonkeyPatch, *seconds: float) -> None:
    """What the clock of the checkout's process says, one look after the other."""
    monkeypatch.setattr(relaying, "monotonic", iter(seconds).__next__)


def test_calls_are_handed_out_once_in_their_order(app: App, installation: Installation) -> None:
    begun(installation, url="https://a.example/1")
    begun(installation, url="https://a.example/2")

    first, second = relaying.take(app, store=None)
    assert (first.url, second.url) == ("https://a.example/1", "https://a.example/2")
    assert (first.installation_id, first.body) == (installation.pk, "{}")
    assert first.headers == {"X-Webhook-Timestamp": "1"}
    assert 0 < first.timeout <= 5.0
    assert relaying.take(app, store=None) == []


def test_call_whose_time_is_over_is_neither_handed_out_nor_answered(
    app: App, installation: Installation
) -> None:
    begun(installation)
    handed = taken(app)
    RelayedCall.objects.update(ends_at=Now())
    begun(installation, seconds=0)

    assert relaying.take(app, store=None) == []
    assert not relaying.answer(app, handed.call_id, OK)


def test_calls_of_another_app_are_not_handed_out_and_not_answered(
    app: App, installation: Installation, dana: User, sandbox: Business
) -> None:
    other = factories.app(dana)
    begun(installation)
    begun(factories.installation(other, sandbox))

    handed = taken(app)
    assert handed.installation_id == installation.pk
    assert not relaying.answer(other, handed.call_id, OK)
    assert relaying.answer(app, handed.call_id, OK)


def test_listener_of_a_store_gets_its_calls_alone(
    app: App, installation: Installation, shop: Business
) -> None:
    elsewhere = factories.installation(app, shop)
    begun(installation)
    begun(elsewhere)

    (handed,) = relaying.take(app, store=shop.pk)
    assert handed.installation_id == elsewhere.pk
    assert taken(app).installation_id == installation.pk


def test_listener_of_an_app_gets_no_call_of_a_store_with_one_of_its_own(
    app: App, installation: Installation, shop: Business, dana: User
) -> None:
    begun(factories.installation(app, shop))
    listeners.attach(app=app, person=dana, store=shop)

    assert relaying.take(app, store=None) == []
    assert len(relaying.take(app, store=shop.pk)) == 1


def test_listener_is_for_the_own_sandbox_of_its_developer(
    app: App, installation: Installation, sandbox: Business, sam: User
) -> None:
    sams = Business.objects.sandbox_of(sam)
    installed = factories.installation(app, sams, is_own=True)
    slot = listeners.attach(app=app, person=sam)

    assert relaying.listening(sams, [app.pk]) == {app.pk: slot}
    assert relaying.listening(sandbox, [app.pk]) == {}
    installed.is_own = False
    installed.save()
    assert relaying.listening(sams, [app.pk]) == {}


def test_checkout_gets_the_answer_to_its_own_call(
    app: App, installation: Installation, hints: Hints, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        begun(installation)
    relaying.take(app, store=None)
    at(monkeypatch, 1000.0, *[1002.5] * 5)
    call = begun(installation)
    handed = taken(app)
    hints.woken.clear()

    assert relaying.answer(app, handed.call_id, OK)
    assert not relaying.answer(app, handed.call_id, OK), "the first one counts"
    assert hints.woken == [f"call:{handed.call_id}"]
    assert call.result(1.0) == Exchange(200, {}, b"thanks", True, 2500, None)
    assert RelayedCall.objects.filter(answer__isnull=True).count() == 2
    assert not RelayedCall.objects.filter(pk=handed.call_id).exists()


def test_call_wakes_the_listener_and_sleeps_until_its_time_is_over(
    app: App, installation: Installation, hints: Hints, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, 1000.0, 1004.75, 1004.75, 1005.0, 1005.0)
    call = begun(installation)
    assert hints.woken == [listeners.wakeup(SLOT)]
    handed = taken(app)

    assert call.result(60.0) == Exchange(None, {}, b"", False, 5000, "timeout_response")
    assert hints.waits == [(f"call:{handed.call_id}", 0.25)]
    assert not RelayedCall.objects.exists()


def test_call_goes_on_when_its_caller_stops_waiting(
    app: App, installation: Installation, hints: Hints, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, 1000.0, 1000.0, 1000.0, 1000.1, *[1000.2] * 5)
    call = begun(installation)
    with pytest.raises(TimeoutError):
        call.result(0.05)

    assert relaying.answer(app, taken(app).call_id, OK)
    assert call.result(1.0).status == 200


def test_calls_that_were_left_over_go_after_a_minute(installation: Installation) -> None:
    for seconds in (-61, -59, 5):
        begun(installation)
        RelayedCall.objects.filter(ends_at__gt=Now()).update(ends_at=Now() + timedelta(seconds=seconds))

    assert relaying.remove_left_over() == 1
    assert RelayedCall.objects.count() == 2
