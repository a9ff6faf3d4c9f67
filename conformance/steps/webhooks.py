"""Deliveries: valid ones, forged ones, repeated ones, and ones that an app didn't expect."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from common.ids import new_id
from common.secrets import new_webhook_secret
from conformance.enums import Expected, Outcome
from conformance.probes import Finding, Probe
from conformance.subject import OLD, SIGNATURES, Answers, Step, Subject, skipped
from webhooks.catalogue import ERASURES, WEBHOOK_TEST
from webhooks.messages import payloads
from webhooks.messages.message import signature_headers
from webhooks.services.sandbox.samples import sample_data

UNKNOWN: Final = "order.unheard_of"
UNKNOWN_FIELD: Final = {"addedLater": {"by": "a newer version of the platform"}}
USUAL: Final = "order.created"
_ALL: Final = ("WH001", "WH002", "WH003", "WH004", "WH005", "WH006", "WH007", "WH008", "WH009", "WH010", "WH011", "WH012")  # fmt: skip


def usual_event(subject: Subject) -> str:
    """An event that the app receives."""
    named = [event for event in subject.events if event not in ERASURES]
    first = sorted(named, key=lambda event: event != USUAL)
    return next((each for each in first if not _stopped_by(subject, each)), WEBHOOK_TEST)


def _stopped_by(subject: Subject, event: str) -> str:
    return subject.stopped_by(event, usual_data(subject, event))


def usual_data(subject: Subject, event: str) -> dict[str, Any]:
    assert subject.webhook is not None
    if event == WEBHOOK_TEST:
        return payloads.test_event(subject.webhook)
    return sample_data(subject.store, event, subject.now)


def valid(subject: Subject, rule: str, title: str, **more: Any) -> Probe:
    """A valid delivery of a usual event."""
    event = usual_event(subject)
    return subject.delivery(rule=rule, title=title, event=event, data=usual_data(subject, event), **more)


class WebhookSignatures(Step):
    """Where the app couldn't be installed, a `webhook.test` of its test install."""

    needs_install = False

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        if subject.webhook is None:
            return
        subject.state["effects"] = [subject.effects()]
        first = valid(subject, "WH001", f"A valid {usual_event(subject)}")
        subject.state["first"] = first.as_json()
        yield first
        refused = Expected.REFUSED
        foreign = new_webhook_secret(test=True)
        yield valid(subject, "WH002", "Signed with another secret", expected=refused, secret=foreign)
        yield _changed(valid(subject, "WH003", "With a changed body", expected=refused))
        unsigned = valid(subject, "WH004", "Without a signature", expected=refused)
        yield _with_headers(unsigned, without=SIGNATURES)
        yield _shortened(valid(subject, "WH004", "With the beginning of a signature", expected=refused))
        yield valid(subject, "WH005", "Sent ten minutes ago", expected=refused, sent_at=subject.now - OLD)
        yield valid(subject, "WH006", "Sent in ten minutes", expected=refused, sent_at=subject.now + OLD)
        old = valid(
            subject, "WH007", "An old one with a new timestamp", expected=refused, sent_at=subject.now - OLD
        )
        stamp = str(int(subject.now.timestamp()))
        yield _with_headers(old, {"X-Webhook-Timestamp": stamp, "webhook-timestamp": stamp})

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        if subject.webhook is None and (subject.signer or not subject.tried.webhook_url):
            yield from skipped("The app has neither a Webhook URL nor a webhook of its own.", *_ALL)
        yield from super().judge(subject, probes, answers)


class Repeat(Step):
    """The first delivery again, under the same id. The app's work with it shows in the store, or not at all."""

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        if subject.webhook is None:
            return
        subject.state["effects"].append(subject.effects())
        first = subject.state["first"]
        stamp = int(subject.now.timestamp())
        headers = signature_headers(subject.webhook.secret, first["about"], stamp, first["body"].encode())
        yield Probe(
            name="repeat",
            rule="WH008",
            title="The same delivery again",
            expected=Expected.ACCEPTED,
            url=first["url"],
            headers=first["headers"] | headers,
            body=first["body"],
        )

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        if subject.webhook is None:
            return
        yield from super().judge(subject, probes, answers)
        before, after_first = subject.state["effects"]
        if after_first == before:
            text = "The first delivery changed nothing in the store, so it can't be seen whether the app does its work twice."
            yield Finding("WH008", Outcome.PASS, text)
        elif subject.effects() > after_first:
            text = "The app changed the store for the first delivery, and again for its repeat."
            yield Finding("WH008", Outcome.FAIL, text)
        else:
            yield Finding("WH008", Outcome.PASS, "The app changed the store for the first delivery only.")


class Variety(Step):
    def prepare(self, subject: Subject) -> Iterable[Probe]:
        if subject.webhook is None:
            return
        for event in subject.events:
            if event not in ERASURES and not _stopped_by(subject, event):
                data = usual_data(subject, event)
                yield subject.delivery(rule="WH009", title=event, event=event, data=data)
        if not subject.events:
            yield valid(subject, "WH009", WEBHOOK_TEST)
        event = usual_event(subject)
        data = usual_data(subject, event)
        yield subject.delivery(rule="WH010", title=UNKNOWN, event=UNKNOWN, data=data)
        title = f"{event} with a field more"
        yield subject.delivery(rule="WH011", title=title, event=event, data=data | UNKNOWN_FIELD)
        yield from _moved(subject, "DELIVERED", "IN_DELIVERY", "order.delivered", subject.now)

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        yield from super().judge(subject, probes, answers)
        for event in subject.events:
            if event not in ERASURES and (condition := _stopped_by(subject, event)):
                text = f"{event}: not sent, since the filter asks for {condition}. It counts as delivered."
                yield Finding("WH009", Outcome.PASS, text)


class OutOfOrder(Step):
    """What happened before the last delivery, sent after it."""

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        if subject.webhook is None:
            return
        event = usual_event(subject)
        earlier = subject.now - timedelta(minutes=3)
        title = f"{event} of three minutes ago"
        data = usual_data(subject, event) | ({"orderId": _order_id(subject)} if event == USUAL else {})
        yield subject.delivery(rule="WH012", title=title, event=event, data=data, occurred_at=earlier)
        yield from _moved(subject, "CONFIRMED", "PENDING", "order.status_changed", earlier)


def _moved(
    subject: Subject, status: str, previous: str, event: str, occurred_at: datetime
) -> Iterator[Probe]:
    """Of an order of which the app has heard nothing yet."""
    if event not in subject.events:
        return
    data = usual_data(subject, event) | {
        "orderId": _order_id(subject),
        "status": status,
        "previousStatus": previous,
    }
    if subject.stopped_by(event, data):
        return
    title = f"{event} of an unknown order"
    yield subject.delivery(rule="WH012", title=title, event=event, data=data, occurred_at=occurred_at)


def _order_id(subject: Subject) -> str:
    order_id: str = subject.state.setdefault("unknown order", str(new_id()))
    return order_id


def _with_headers(probe: Probe, more: dict[str, str] | None = None, without: Sequence[str] = ()) -> Probe:
    kept = {name: value for name, value in probe.headers.items() if name not in without}
    return replace(probe, headers=kept | (more or {}))


def _shortened(probe: Probe) -> Probe:
    """Receivers that compare as many characters as they got accept it."""
    return _with_headers(probe, {name: probe.headers[name][:16] for name in SIGNATURES})


def _changed(probe: Probe) -> Probe:
    return replace(probe, body=probe.body.replace("{", '{"injected":true,', 1))
