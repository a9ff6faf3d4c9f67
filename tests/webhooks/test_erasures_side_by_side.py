"""Two erasures of one store: whatever happens to one leaves the other as it is."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
import time_machine

from accounts.models import Business, User
from common.errors import Conflict
from installations import services as installing
from installations.models import Installation
from installations.services import test_install as install_for_test
from tests import factories
from tests.receivers import Receiver
from tests.signals import connected
from tests.webhooks import helpers
from tests.webhooks.erasures import DUE, SECOND, T0, kinds
from tests.webhooks.helpers import drain, erasure_state
from webhooks.enums import DeliveryStatus, ErasureState
from webhooks.models import Delivery, Erasure, Event, Webhook
from webhooks.services import erasure as erasures
from webhooks.signals import erasure_begun

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("mails_leave_at_once")]

NAMED = ["business.data_erasure"]
HOUR = timedelta(hours=1)


class Ended(NamedTuple):
    """An app's installation that has ended, and the server of the app."""

    installation: Installation
    server: Receiver

    @property
    def erasure(self) -> Erasure:
        return Erasure.objects.get(installation=self.installation)

    @property
    def rows(self) -> list[Any]:
        """All that an erasure consists of."""
        of_it = {"webhook__installation": self.installation}
        return [
            Erasure.objects.filter(installation=self.installation).values().get(),
            list(Event.objects.filter(pk=self.erasure.event_id).values()),
            list(Delivery.objects.filter(**of_it).order_by("id").values()),
            list(Webhook.objects.filter(installation=self.installation).order_by("id").values()),
            kinds(self.installation),
        ]


@pytest.fixture
def end(dana: User, sandbox: Business, clock: time_machine.Traveller) -> Iterator[Callable[..., Ended]]:
    """Installs an app of Dana's on her sandbox and uninstalls it at T0. It has two webhooks that name the erasure."""
    servers: list[Receiver] = []

    def make() -> Ended:
        server = Receiver().__enter__()
        servers.append(server)
        app = factories.app(dana, webhook_url=f"{server.url}own")
        installation = install_for_test(app=app, developer=dana).installation
        helpers.webhook(installation, f"{server.url}named", NAMED)
        return Ended(installing.uninstall(installation=installation, now=T0), server)

    yield make
    for each in servers:
        each.__exit__()


@pytest.fixture
def mine(end: Callable[..., Ended]) -> Ended:
    return end()


@pytest.fixture
def other(end: Callable[..., Ended]) -> Ended:
    return end()


def fail_for_good(ended: Ended, clock: time_machine.Traveller, settings: Any) -> None:
    settings.WEBHOOK_RETRY_DELAYS = ()
    ended.server.respond_with(500)
    clock.move_to(DUE, tick=False)
    drain()
    erasures.update_states()
    assert erasure_state(ended.installation) == ErasureState.OVERDUE


def test_erasure_goes_to_webhooks_of_its_installation(mine: Ended, other: Ended) -> None:
    for each in (mine, other):
        webhooks = Webhook.objects.filter(deliveries__event=each.erasure.event_id)
        assert sorted(webhooks.values_list("url", flat=True)) == [
            f"{each.server.url}named",
            f"{each.server.url}own",
        ]


def test_app_defined_webhook_that_names_the_erasure_gets_it_once(
    dana: User, sandbox: Business, receiver: Receiver
) -> None:
    app = factories.app(dana, webhook_url=receiver.url, webhook_events=NAMED)
    installation = install_for_test(app=app, developer=dana).installation
    Webhook.objects.update(events=NAMED)
    installing.uninstall(installation=installation, now=T0)
    assert Delivery.objects.get().webhook.is_app_defined


def test_install_cancels_the_erasure_of_that_app_alone(mine: Ended, other: Ended, dana: User) -> None:
    before = other.rows
    install_for_test(app=mine.installation.app, developer=dana)
    assert erasure_state(mine.installation) == ErasureState.CANCELLED
    assert other.rows == before


def test_erasure_that_is_sent_early_is_one(mine: Ended, other: Ended, clock: time_machine.Traveller) -> None:
    given_up = Delivery.objects.filter(event=mine.erasure.event_id, webhook__is_app_defined=False)
    given_up.update(status=DeliveryStatus.CANCELLED, due_at=None)
    before = other.rows
    clock.move_to(T0 + HOUR, tick=False)
    erasures.bring_forward(erasure=mine.erasure)
    assert Event.objects.get(pk=mine.erasure.event_id).occurred_at == T0 + HOUR
    with pytest.raises(Conflict, match="isn't waiting"):
        erasures.bring_forward(erasure=mine.erasure)
    assert drain() == 1
    assert [request.target for request in mine.server.requests] == ["/own"]
    erasures.update_states()
    Erasure.objects.filter(pk=mine.erasure.pk).update(due_at=DUE)
    with pytest.raises(Conflict, match="Confirmed"):
        erasures.bring_forward(erasure=mine.erasure)
    assert other.rows == before


@pytest.mark.long
def test_states_are_of_each_erasure(
    mine: Ended, other: Ended, clock: time_machine.Traveller, settings: Any, mailoutbox: list[Any]
) -> None:
    settings.ADMINS = [("Ops", "ops@example.com")]
    mine.server.respond_with(204)
    fail_for_good(other, clock, settings)
    assert erasure_state(mine.installation) == ErasureState.CONFIRMED
    assert (mine.erasure.confirmed_at, other.erasure.confirmed_at) == (DUE, None)
    assert (mine.erasure.alarmed_at, other.erasure.alarmed_at) == (None, DUE)
    (mail,) = mailoutbox
    assert other.installation.app.slug in mail.body
    assert mine.installation.app.slug not in mail.body


@pytest.mark.long
def test_each_overdue_erasure_is_in_one_mail(
    mine: Ended,
    other: Ended,
    clock: time_machine.Traveller,
    settings: Any,
    mailoutbox: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.ADMINS = [("Ops", "ops@example.com")]
    monkeypatch.setattr(erasures, "BATCH", 1)
    Erasure.objects.update(state=ErasureState.OVERDUE)  # at once, so both wait for the first mail
    for _ in range(4):
        erasures.update_states()
    slugs = {mine.installation.app.slug, other.installation.app.slug}
    assert {slug for slug in slugs for mail in mailoutbox if slug in mail.body} == slugs
    assert len(mailoutbox) == 2


@pytest.mark.long
def test_erasure_that_is_sent_again_is_one(
    mine: Ended, other: Ended, clock: time_machine.Traveller, settings: Any
) -> None:
    mine.server.respond_with(500)
    fail_for_good(other, clock, settings)
    before = other.rows
    type(mine.installation.app).objects.filter(pk=mine.installation.app_id).update(
        webhook_url=f"{mine.server.url}new"
    )
    mine.server.respond_with(200)
    sent = len(mine.server.requests)
    erasures.resend(erasure=mine.erasure)
    assert drain() == 2
    assert sorted(request.target for request in mine.server.requests[sent:]) == ["/named", "/new"]
    assert other.rows == before


@pytest.mark.long
@pytest.mark.parametrize("meanwhile", ["installed again", "without its event", "moved by another run"])
def test_erasure_that_changes_before_its_turn_is_left_alone(
    meanwhile: str, mine: Ended, other: Ended, dana: User, clock: time_machine.Traveller
) -> None:
    """`update_states` finds both, and moves the first."""
    clock.move_to(DUE, tick=False)
    drain()
    first, second = (mine, other) if mine.erasure.due_at <= other.erasure.due_at else (other, mine)
    rows = Erasure.objects.filter(installation=second.installation)
    Erasure.objects.filter(installation=first.installation).update(due_at=DUE - SECOND)
    changed: list[Any] = []

    def change(sender: Any, installation: Installation, **_: Any) -> None:
        if installation != first.installation:
            return
        if meanwhile == "installed again":
            install_for_test(app=second.installation.app, developer=dana)
        elif meanwhile == "without its event":
            rows.update(event=None)
        else:
            rows.update(state=ErasureState.CONFIRMED)
        changed.extend([*rows.values(), kinds(second.installation)])

    with connected(erasure_begun, change):
        assert erasures.update_states() == 1
    assert [*rows.values(), kinds(second.installation)] == changed
