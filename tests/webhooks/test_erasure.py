"""After an uninstall: the request that the app erase the business's data, sent after 48 hours."""

import logging
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest
import time_machine
from django.contrib.auth.models import Permission
from django.db.models.signals import post_save
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from common.errors import Conflict
from common.times import iso
from installations import services as installing
from installations.enums import HistoryKind
from installations.models import Installation
from installations.services import test_install as install_for_test
from marketplace.models import App
from marketplace.services.apps import delete_app
from tests import factories
from tests.receivers import Receiver
from tests.signals import breaking, connected, heard
from tests.webhooks import helpers
from tests.webhooks.erasures import DUE, SECOND, T0, kinds
from tests.webhooks.helpers import drain, erasure_state, is_signed
from webhooks.endpoints import endpoint_key
from webhooks.engine import recording
from webhooks.enums import DeliveryStatus, ErasureState
from webhooks.models import Delivery, Erasure, Event, Webhook
from webhooks.queries import erasures_of
from webhooks.services import erasure as erasures
from webhooks.services.deliveries import cancel_waiting, redeliver
from webhooks.signals import erasure_begun

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("mails_leave_at_once")]

WAITS = [timedelta(seconds=seconds) for seconds in (30, 120, 480, 1920, 7200)]


@pytest.fixture
def told(app: App, receiver: Receiver) -> Receiver:
    """What listens at the app's Webhook URL."""
    app.webhook_url = receiver.url
    app.save()
    return receiver


@pytest.fixture
def uninstalled(told: Receiver, installation: Installation, clock: time_machine.Traveller) -> Installation:
    """Dana's app, uninstalled at T0 from her sandbox."""
    return installing.uninstall(installation=installation, now=T0)


def use_up_the_schedule(clock: time_machine.Traveller, begins: datetime = DUE) -> None:
    """Six attempts, from the moment it is due."""
    moment = begins
    for wait in [timedelta(0), *WAITS]:
        moment += wait * 1.05 + SECOND
        clock.move_to(moment, tick=False)
        assert drain() == 1


# When, where, and signed with what


@pytest.mark.spec(
    "Events/Data erasure", "Sent 48 hours after the uninstall: appId, businessId, uninstalledAt"
)
@pytest.mark.spec(
    "Contract 5 Webhooks", "The erasure is signed with the kept secret of the ended installation"
)
def test_erasure_is_sent_after_48_hours_to_the_second(
    uninstalled: Installation, told: Receiver, clock: time_machine.Traveller
) -> None:
    clock.move_to(DUE - SECOND, tick=False)
    assert drain() == 0
    clock.move_to(DUE, tick=False)
    assert drain() == 1

    (request,) = told.wait_for(1)
    own = Webhook.objects.get(is_app_defined=True)
    assert orjson.loads(request.body) == {
        "event": "business.data_erasure",
        "timestamp": iso(DUE),
        "webhookId": str(own.id),
        "businessId": str(uninstalled.business_id),
        "data": {
            "appId": str(uninstalled.app_id),
            "businessId": str(uninstalled.business_id),
            "uninstalledAt": iso(T0),
        },
    }
    assert request.headers["x-webhook-id"] == str(own.id)
    assert is_signed(request, uninstalled.webhook_secret)
    assert not own.is_active


@pytest.mark.spec("Contract 5 Webhooks", "The erasure goes to the app's Webhook URL as it is then")
def test_erasure_goes_to_the_webhook_url_as_it_is_when_it_is_due(
    uninstalled: Installation, told: Receiver, clock: time_machine.Traveller
) -> None:
    with Receiver() as moved:
        App.objects.update(webhook_url=moved.url)
        clock.move_to(DUE, tick=False)
        drain()
        assert len(moved.requests) == 1
    assert told.requests == []


def test_erasure_keeps_the_app_defined_webhook_of_the_installation(
    told: Receiver, installation: Installation, clock: time_machine.Traveller
) -> None:
    own = helpers.webhook(installation, told.url, [], is_app_defined=True, secret=installation.webhook_secret)
    installing.uninstall(installation=installation)
    assert Delivery.objects.get().webhook == own


@pytest.mark.spec(
    "Contract 5 Webhooks",
    "The erasure goes to each other webhook that named it and was not deleted, signed with its own secret",
)
def test_erasure_goes_to_the_other_webhooks_that_named_it(
    told: Receiver, installation: Installation, clock: time_machine.Traveller
) -> None:
    named = ["business.data_erasure"]
    with Receiver() as other:
        chosen = helpers.webhook(installation, f"{other.url}on", named)
        off = helpers.webhook(installation, f"{other.url}off", named, is_active=False)
        helpers.webhook(installation, f"{other.url}deleted", named, deleted_at=T0)
        helpers.webhook(installation, f"{other.url}unnamed", ["order.created"])
        installing.uninstall(installation=installation)
        clock.move_to(DUE, tick=False)
        assert drain() == 3
        by_target = {request.target: request for request in other.requests}
        assert by_target.keys() == {"/on", "/off"}
        assert is_signed(by_target["/on"], chosen.secret)
        assert is_signed(by_target["/off"], off.secret)
    assert len(told.requests) == 1


def test_erasure_of_an_app_without_webhook_url_is_sent_nowhere(
    installation: Installation, clock: time_machine.Traveller
) -> None:
    ended = installing.uninstall(installation=installation)
    clock.move_to(DUE, tick=False)
    assert drain() == 0
    erasures.update_states()
    assert erasure_state(ended) == ErasureState.UNADDRESSED
    assert Delivery.objects.get().status == DeliveryStatus.CANCELLED


def test_erasure_goes_to_a_webhook_url_that_came_after_the_uninstall(
    installation: Installation, receiver: Receiver, clock: time_machine.Traveller
) -> None:
    installing.uninstall(installation=installation)
    App.objects.update(webhook_url=receiver.url)
    clock.move_to(DUE, tick=False)
    assert drain() == 1
    assert is_signed(receiver.requests[0], installation.webhook_secret)


@pytest.mark.spec("Contract 5 Webhooks", "business.data_erasure ignores disabling, inactivity and suspension")
def test_erasure_of_a_suspended_app_goes_out(
    uninstalled: Installation, told: Receiver, clock: time_machine.Traveller
) -> None:
    App.objects.update(suspended_at=T0)
    cancel_waiting(webhooks=Webhook.objects.all(), now=T0)
    clock.move_to(DUE, tick=False)
    assert drain() == 1


def test_erasure_of_a_deleted_app_goes_out(
    app: App, told: Receiver, installation: Installation, clock: time_machine.Traveller
) -> None:
    delete_app(app=app)
    clock.move_to(DUE, tick=False)
    assert drain() == 1
    assert is_signed(told.requests[0], installation.webhook_secret)


def test_erasure_is_not_sent_to_a_webhook_that_was_deleted(
    uninstalled: Installation, told: Receiver, clock: time_machine.Traveller
) -> None:
    Webhook.objects.update(deleted_at=T0)
    clock.move_to(DUE, tick=False)
    assert drain() == 0


def test_uninstall_that_rolls_back_owes_nothing(told: Receiver, installation: Installation) -> None:
    failing = connected(post_save, breaking("The power went."), sender=Erasure)
    with failing, pytest.raises(RuntimeError, match="power"):
        installing.uninstall(installation=installation)
    assert not Erasure.objects.exists()
    assert not Event.objects.exists()
    assert not installation.history.exists()
    assert Installation.objects.get().is_active


# Until it is confirmed


@pytest.mark.long
@pytest.mark.spec("Events/Data erasure", "Without a 2xx the standard retry schedule applies")
def test_erasure_that_fails_is_tried_six_times_and_alarms_operators(
    uninstalled: Installation,
    told: Receiver,
    clock: time_machine.Traveller,
    settings: Any,
    mailoutbox: list[Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings.ADMINS = [("Ops", "ops@example.com")]
    told.respond_with(503)
    use_up_the_schedule(clock)
    assert len({request.headers["x-service-event-id"] for request in told.requests}) == 1
    assert all(is_signed(request, uninstalled.webhook_secret) for request in told.requests)

    with caplog.at_level(logging.ERROR):
        assert erasures.update_states() == 1
    assert "Answered with 503" in caplog.text
    (mail,) = mailoutbox
    assert mail.to == ["ops@example.com"]
    assert f"{uninstalled.app.slug} for {uninstalled.business.slug}, due {iso(DUE)}\n" in mail.body
    assert uninstalled.webhook_secret not in mail.body
    assert erasure_state(uninstalled) == ErasureState.OVERDUE
    assert kinds(uninstalled) == ["UNINSTALLED", "ERASURE_SENT", "ERASURE_OVERDUE"]
    assert uninstalled.history.get(kind=HistoryKind.ERASURE_OVERDUE).at == timezone.now()
    erasure = Erasure.objects.get()
    assert (erasure.sent_at, erasure.confirmed_at) == (DUE + SECOND, None)
    assert erasures.update_states() == 0
    assert len(mailoutbox) == 1, "Operators are notified only once."

    erasures.resend(erasure=erasure)
    use_up_the_schedule(clock, begins=timezone.now())
    erasures.update_states()
    assert len(mailoutbox) == 2, "It is overdue once more."


@pytest.mark.spec("Events/Data erasure", "States follow the erasure's own deliveries")
def test_erasures_that_stay_open_hold_up_no_later_one(
    uninstalled: Installation,
    told: Receiver,
    app: App,
    dana: User,
    shop: Business,
    clock: time_machine.Traveller,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that was cancelled, and one that is retried, are older."""
    monkeypatch.setattr(erasures, "BATCH", 1)
    told.respond_with(500, 204)
    factories.approve(app)
    retried = installing.uninstall(installation=install_for_test(app=app, developer=dana).installation)
    clock.move_to(T0 + SECOND, tick=False)
    later = installing.uninstall(installation=factories.installation(app, shop, is_test=False))
    for moment in (DUE, DUE + SECOND):
        clock.move_to(moment, tick=False)
        assert drain() == 1
    assert [erasures.update_states() for _ in range(3)] == [1, 1, 0]
    found = {each.installation_id: (each.state, each.sent_at) for each in Erasure.objects.all()}
    assert found == {
        uninstalled.pk: ("CANCELLED", None),
        retried.pk: ("SENT", DUE),
        later.pk: ("CONFIRMED", DUE + SECOND),
    }


def test_states_follow_the_deliveries(
    uninstalled: Installation,
    told: Receiver,
    clock: time_machine.Traveller,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert erasure_state(uninstalled) == ErasureState.DUE
    told.respond_with(500, 204)
    clock.move_to(DUE, tick=False)
    assert erasures.update_states() == 0, "Nothing was sent yet."
    drain()
    with heard(erasure_begun) as begun:
        erasures.update_states()
        assert erasure_state(uninstalled) == ErasureState.SENT
        clock.shift(60)
        drain()
        erasures.update_states()
    assert begun == [{"installation": uninstalled, "now": DUE}], (
        "What the log holds about the store is deleted once."
    )
    erasure = Erasure.objects.get()
    assert (erasure.state, erasure.sent_at, erasure.confirmed_at) == ("CONFIRMED", DUE, DUE + 60 * SECOND)
    assert kinds(uninstalled) == ["UNINSTALLED", "ERASURE_SENT", "ERASURE_CONFIRMED"]
    assert uninstalled.history.get(kind=HistoryKind.ERASURE_CONFIRMED).note == "Answered with 204"
    assert "not confirmed" not in caplog.text


@pytest.mark.parametrize(
    ("answers", "state", "note"),
    [
        ((500, 204), ErasureState.CONFIRMED, "Answered with 204"),
        ((500, 299), ErasureState.CONFIRMED, "Answered with 299"),
        ((500, 500), ErasureState.OVERDUE, "Answered with 500"),
        ((500, 300), ErasureState.OVERDUE, "Answered with 300"),
    ],
)
def test_erasure_is_confirmed_only_once_all_have_confirmed(
    answers: tuple[int, int],
    state: ErasureState,
    note: str,
    told: Receiver,
    installation: Installation,
    clock: time_machine.Traveller,
    settings: Any,
) -> None:
    settings.WEBHOOK_RETRY_DELAYS = (30,)
    with Receiver() as other:
        other.respond_with(*answers)
        helpers.webhook(installation, other.url, ["business.data_erasure"])
        ended = installing.uninstall(installation=installation)
        clock.move_to(DUE, tick=False)
        assert drain() == 2
        erasures.update_states()
        assert erasure_state(ended) == ErasureState.SENT
        clock.shift(60)
        drain()
        erasures.update_states()
        assert erasure_state(ended) == state
        assert ended.history.get(kind=f"ERASURE_{state}").note == note


def test_failure_is_kept_although_another_webhook_confirmed_later(
    told: Receiver, installation: Installation, clock: time_machine.Traveller, settings: Any
) -> None:
    settings.WEBHOOK_RETRY_DELAYS = ()
    with Receiver() as other:
        told.respond_with(503)
        later = helpers.webhook(installation, other.url, ["business.data_erasure"])
        ended = installing.uninstall(installation=installation)
        Delivery.objects.filter(webhook=later).update(due_at=DUE + SECOND)
        for moment in (DUE, DUE + SECOND):
            clock.move_to(moment, tick=False)
            assert drain() == 1
        erasures.update_states()
    entry = ended.history.get(kind=HistoryKind.ERASURE_OVERDUE)
    assert (entry.at, entry.note) == (DUE, "Answered with 503")

    erasures.resend(erasure=Erasure.objects.get())
    told.respond_with(200)
    assert drain() == 1, "The webhook that confirmed isn't asked again."


def test_erasure_that_nothing_answers_says_so(
    uninstalled: Installation, clock: time_machine.Traveller, settings: Any
) -> None:
    settings.WEBHOOK_RETRY_DELAYS = ()
    App.objects.update(webhook_url="http://127.0.0.1:9/")
    clock.move_to(DUE, tick=False)
    drain()
    erasures.update_states()
    assert uninstalled.history.get(kind=HistoryKind.ERASURE_OVERDUE).note.startswith("No response (")


def test_sending_again_starts_the_schedule_anew_under_the_same_id(
    uninstalled: Installation, told: Receiver, clock: time_machine.Traveller, settings: Any
) -> None:
    settings.WEBHOOK_RETRY_DELAYS = ()
    told.respond_with(500, 200)
    clock.move_to(DUE, tick=False)
    drain()
    erasures.update_states()
    App.objects.update(webhook_url=f"{told.url}/new")
    erasures.resend(erasure=Erasure.objects.get())
    assert erasure_state(uninstalled) == ErasureState.SENT
    assert Delivery.objects.get().endpoint == endpoint_key(
        uninstalled.app_id, f"{told.url}/new", sandbox=uninstalled.business_id
    )
    assert drain() == 1
    erasures.update_states()
    assert erasure_state(uninstalled) == ErasureState.CONFIRMED
    first, second = told.requests
    assert second.target.endswith("/new")
    assert first.headers["x-service-event-id"] == second.headers["x-service-event-id"]
    with pytest.raises(Conflict, match="Confirmed"):
        erasures.resend(erasure=Erasure.objects.get())


def test_erasure_whose_delivery_is_removed_can_be_sent_again(
    uninstalled: Installation, told: Receiver, clock: time_machine.Traveller
) -> None:
    Event.objects.all().delete()
    Erasure.objects.update(state=ErasureState.OVERDUE)
    clock.move_to(DUE + timedelta(days=40), tick=False)
    assert erasures.update_states() == 0
    erasures.resend(erasure=Erasure.objects.get())
    assert erasure_state(uninstalled) == ErasureState.DUE
    assert drain() == 1
    erasures.update_states()
    assert erasure_state(uninstalled) == ErasureState.CONFIRMED


# Installed again


@pytest.mark.spec("Contract 3 OAuth", "A test install within the 48 hours cancels the pending data erasure")
def test_test_install_cancels_the_erasure(
    uninstalled: Installation, told: Receiver, clock: time_machine.Traveller, app: App, dana: User
) -> None:
    clock.move_to(DUE - SECOND, tick=False)
    with heard(erasure_begun) as begun:
        install_for_test(app=app, developer=dana)
        clock.move_to(DUE, tick=False)
        assert drain() == 0
        assert erasure_state(uninstalled) == ErasureState.CANCELLED
        assert Delivery.objects.get().status == DeliveryStatus.CANCELLED
        assert kinds(uninstalled) == ["UNINSTALLED", "ERASURE_CANCELLED"]
        assert erasures.update_states() == 0
    assert begun == []


@pytest.mark.spec("Contract 3 OAuth", "A re-install within the 48 hours cancels the pending data erasure")
def test_install_by_a_merchant_cancels_the_erasure_of_that_business_alone(
    told: Receiver, app: App, shop: Business, installation: Installation, clock: time_machine.Traveller
) -> None:
    at_shop = factories.installation(app, shop, is_test=False)
    for each in (installation, at_shop):
        installing.uninstall(installation=each)
    installing.install(
        app=app,
        business=shop,
        installed_by=shop.owner,
        terms=installing.Terms(is_test=False, granted_scopes=app.scopes),
    )
    assert erasure_state(at_shop) == ErasureState.CANCELLED
    assert erasure_state(installation) == ErasureState.DUE


def test_install_that_rolls_back_cancels_nothing(uninstalled: Installation, app: App, dana: User) -> None:
    failing = connected(post_save, breaking("The power went."), sender=Erasure)
    with failing, pytest.raises(RuntimeError, match="power"):
        install_for_test(app=app, developer=dana)
    assert Delivery.objects.get().status == DeliveryStatus.PENDING
    assert erasure_state(uninstalled) == ErasureState.DUE


def test_install_while_a_dispatcher_holds_the_erasure_drops_its_result(
    uninstalled: Installation, clock: time_machine.Traveller, app: App, dana: User
) -> None:
    clock.move_to(DUE, tick=False)
    (claim,) = helpers.claim(10, DUE)
    install_for_test(app=app, developer=dana)
    answered = recording.AttemptResult(
        claim=claim,
        status=DeliveryStatus.RETRYING,
        due_at=DUE,
        finished_at=None,
        attempted_at=DUE,
        http_status=500,
        duration_ms=5,
        error_class="http_5xx",
        response_excerpt="",
    )
    assert recording.record([answered]) == 0
    assert Delivery.objects.get().status == DeliveryStatus.CANCELLED
    assert drain() == 0


@pytest.mark.parametrize(("delays", "before"), [((30,), ErasureState.SENT), ((), ErasureState.OVERDUE)])
def test_install_after_an_attempt_cancels_the_erasure(
    delays: tuple[int, ...],
    before: ErasureState,
    uninstalled: Installation,
    told: Receiver,
    clock: time_machine.Traveller,
    app: App,
    dana: User,
    settings: Any,
) -> None:
    settings.WEBHOOK_RETRY_DELAYS = delays
    told.respond_with(500)
    clock.move_to(DUE, tick=False)
    drain()
    erasures.update_states()
    assert erasure_state(uninstalled) == before
    install_for_test(app=app, developer=dana)
    clock.shift(3600)
    assert drain() == 0
    assert erasure_state(uninstalled) == ErasureState.CANCELLED


def test_cancelled_erasure_stays_so_after_the_next_uninstall(
    uninstalled: Installation, told: Receiver, clock: time_machine.Traveller, app: App, dana: User
) -> None:
    """However its delivery came to be due: the one that counts is the later uninstall's."""
    again = install_for_test(app=app, developer=dana).installation
    installing.uninstall(installation=again)
    Delivery.objects.filter(webhook__installation=uninstalled).update(status="PENDING", due_at=T0)
    assert drain() == 0
    clock.move_to(DUE, tick=False)
    assert drain() == 1
    assert is_signed(told.requests[0], again.webhook_secret)


def test_confirmed_erasure_is_not_resent_while_the_app_is_installed_again(
    uninstalled: Installation, told: Receiver, clock: time_machine.Traveller, app: App, dana: User
) -> None:
    """A new install doesn't cancel it, since it is over."""
    clock.move_to(DUE, tick=False)
    drain()
    erasures.update_states()
    install_for_test(app=app, developer=dana)
    redeliver(delivery=Delivery.objects.get(), now=DUE)
    assert drain() == 0
    assert len(told.requests) == 1


def test_erasure_may_not_be_sent_at_will_before_it_is_due(
    uninstalled: Installation, clock: time_machine.Traveller, app: App, dana: User
) -> None:
    delivery = Delivery.objects.get()
    with pytest.raises(Conflict, match="due on 22 Nov 2026, 12:00 UTC"):
        redeliver(delivery=delivery, now=DUE - SECOND)
    assert Delivery.objects.get().due_at == DUE
    redeliver(delivery=delivery, now=DUE)
    install_for_test(app=app, developer=dana)
    with pytest.raises(Conflict, match="installed again"):
        redeliver(delivery=delivery, now=DUE)


# The pages that show it


def test_erasures_of_an_app_are_its_own(uninstalled: Installation, app: App, sam: User) -> None:
    assert [each.installation for each in erasures_of(app)] == [uninstalled]
    assert list(erasures_of(factories.app(sam))) == []


def test_erasure_state_of_an_active_installation_is_none(installation: Installation) -> None:
    assert erasure_state(installation) is None


@pytest.mark.long
def test_admin_lists_erasures_and_sends_overdue_ones_again(uninstalled: Installation, client: Client) -> None:
    client.force_login(User.objects.create_superuser("ops@example.com", "correct horse battery"))
    Delivery.objects.update(status=DeliveryStatus.EXHAUSTED, due_at=None)
    Erasure.objects.update(state=ErasureState.OVERDUE)
    erasure = Erasure.objects.get()
    address = "/admin/webhooks/erasure/"
    listed = client.get(f"{address}?state__exact=OVERDUE")
    assert uninstalled.app.name in listed.text
    detail = client.get(f"{address}{erasure.id}/change/")
    assert "Uninstalled" in detail.text
    assert uninstalled.webhook_secret not in listed.text + detail.text
    chosen = {"action": "resend", "_selected_action": [str(erasure.id)]}
    assert "will be resent" in client.post(address, chosen, follow=True).text
    assert Delivery.objects.get().status == DeliveryStatus.PENDING
    assert "Only an overdue erasure" in client.post(address, chosen, follow=True).text


def test_staff_who_may_only_look_can_not_send_again(uninstalled: Installation, client: Client) -> None:
    looker = User.objects.create_user("looker@example.com", "correct horse battery", is_staff=True)
    looker.user_permissions.add(Permission.objects.get(codename="view_erasure"))
    client.force_login(looker)
    Erasure.objects.update(state=ErasureState.OVERDUE)
    chosen = {"action": "resend", "_selected_action": [str(Erasure.objects.get().id)]}
    client.post("/admin/webhooks/erasure/", chosen)
    assert Erasure.objects.get().state == ErasureState.OVERDUE


# Resent by the developer


def test_redelivery_of_an_exhausted_erasure_goes_out_and_counts(
    uninstalled: Installation, told: Receiver, clock: time_machine.Traveller, settings: Any
) -> None:
    settings.WEBHOOK_RETRY_DELAYS = ()
    told.respond_with(500, 200)
    clock.move_to(DUE, tick=False)
    drain()
    erasures.update_states()
    redeliver(delivery=Delivery.objects.get(), now=DUE)
    assert drain() == 1
    erasures.update_states()
    assert erasure_state(uninstalled) == ErasureState.CONFIRMED


def test_merchant_has_a_mail_for_each_answer_and_none_for_a_resend(
    told: Receiver,
    app: App,
    shop: Business,
    clock: time_machine.Traveller,
    settings: Any,
    mailoutbox: list[Any],
) -> None:
    settings.WEBHOOK_RETRY_DELAYS = ()
    told.respond_with(500, 200)
    factories.approve(app)
    ended = installing.uninstall(installation=factories.installation(app, shop, is_test=False))
    clock.move_to(DUE, tick=False)
    drain()
    assert erasures.update_states() == 1
    assert "hasn't confirmed" in mailoutbox[-1].subject
    redeliver(delivery=Delivery.objects.get(), now=DUE)
    assert erasures.update_states() == 1
    assert (erasure_state(ended), len(mailoutbox)) == (ErasureState.SENT, 1)
    drain()
    assert erasures.update_states() == 1
    assert f"erased the data of {shop.name}" in mailoutbox[-1].subject


def test_test_install_makes_the_webhook_that_the_erasure_is_sent_from(
    told: Receiver, app: App, dana: User, clock: time_machine.Traveller
) -> None:
    installed = install_for_test(app=app, developer=dana).installation
    own = Webhook.objects.get(installation=installed)
    installing.uninstall(installation=installed)
    assert Delivery.objects.get().webhook == own
    clock.move_to(DUE, tick=False)
    drain()
    assert is_signed(told.requests[0], installed.webhook_secret)
