"""A token that ends, uninstalls, installs again, and erasures."""

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from common.contacts import kept_email_key
from common.ids import new_id
from common.secrets import new_webhook_secret
from conformance.enums import Expected, Outcome
from conformance.probes import Finding, Probe, judged
from conformance.steps import hooks
from conformance.steps.webhooks import valid
from conformance.subject import NO_ANSWER, Answers, Step, Subject, skipped
from installations.models import Installation
from installations.services import lifecycle
from stores.customers import Person
from stores.models import Order
from webhooks.catalogue import CUSTOMER_ERASURE, DATA_ERASURE
from webhooks.messages import payloads
from webhooks.models import Webhook
from webhooks.services.customer_erasure import READ_ORDERS, READ_REVIEWS


class EndedToken(Step):
    """The app learns of it by a 401 whenever it calls us. Deliveries and hooks go on."""

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        if subject.installed.token_digest is not None:
            lifecycle.end_token(installation=subject.installed, now=subject.now)
        yield from _valid_requests(subject, "TK001", "with an access token that ended")


class Uninstall(Step):
    """The 48 hours until the erasure have begun. Nothing is sent."""

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        if subject.webhook is not None:
            subject.state["earlier webhook"] = str(subject.webhook.pk)
        lifecycle.uninstall(installation=subject.installed, now=subject.now)
        return ()

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        return iter(())


class InstalledAgain(Step):
    def prepare(self, subject: Subject) -> Iterable[Probe]:
        yield from _valid_requests(subject, "LC002", "after it was installed again")
        known = subject.state.get("earlier webhook")
        earlier = Webhook.objects.filter(pk=known).first() if known else None
        refused = Expected.REFUSED
        if earlier is not None and subject.webhook is not None and earlier.secret != subject.webhook.secret:
            yield valid(
                subject,
                "LC003",
                "A delivery with the earlier secret",
                expected=refused,
                secret=earlier.secret,
            )
            for hook in subject.hooks[:1]:
                data = hooks.any_data(hook.point, subject)
                title = " with the earlier secret"
                yield subject.hook_call(
                    hook, rule="LC003", title=title, data=data, expected=refused, secret=earlier.secret
                )


class ForgedErasure(Step):
    """While the app is installed, so that one which believes it loses a store."""

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        if subject.webhook is None:
            return
        data = {
            "appId": str(subject.app.pk),
            "businessId": str(subject.store.pk),
            "uninstalledAt": subject.run.started_at.isoformat(),
        }
        yield subject.delivery(
            rule="ER001",
            title="An erasure signed with another secret",
            event=DATA_ERASURE,
            data=data,
            expected=Expected.REFUSED,
            secret=new_webhook_secret(test=True),
        )

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        yield from super().judge(subject, probes, answers)
        if subject.webhook is None:
            yield from skipped("The app receives no webhooks.", "ER001", "ER002", "ER003")


class EraseCustomer(Step):
    """A customer of the throwaway store, whose order the app may have seen."""

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        if subject.webhook is None or not (READ_ORDERS | READ_REVIEWS) & set(
            subject.installed.effective_scopes
        ):
            return
        reads_orders = bool(READ_ORDERS & set(subject.installed.effective_scopes))
        last = Order.objects.filter(business=subject.store).order_by("-id").first() if reads_orders else None
        person = Person(email=kept_email_key(last.customer_email) or "kim@example.com") if last else None
        yield subject.delivery(
            rule="ER004",
            title="The erasure of a customer",
            event=CUSTOMER_ERASURE,
            data=payloads.customer_erased(
                subject.installed,
                person=person,
                order_ids=[last.pk] if last else [],
                review_ids=[],
                now=subject.now,
            ),
        )

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        yield from super().judge(subject, probes, answers)
        if not probes:
            yield from skipped("The app has no address, or reads neither orders nor reviews.", "ER004")


class EraseData(Step):
    """Uninstalls, and sends at once what otherwise comes 48 hours later."""

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        webhook, ended = subject.webhook, subject.installed
        ended = lifecycle.uninstall(installation=ended, now=subject.now)
        if webhook is None:
            return
        subject.state["erasure"] = [str(ended.pk), str(webhook.pk), str(new_id())]
        yield _erasure(subject, "ER002", "The erasure")

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        """An app that needs more time may respond 5xx first (docs/erasure.md)."""
        for probe in probes:
            answer = answers.get(probe.name, NO_ANSWER)
            finding = judged(probe, answer)
            if answer.status is not None and answer.status >= 500:
                subject.state["unconfirmed"] = True
                text = f"{finding.text} That is right only if a later attempt gets 2xx."
                finding = Finding(finding.rule, Outcome.WARN, text)
            yield finding


class RepeatedErasure(Step):
    needs_install = False

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        if "erasure" in subject.state:
            yield _erasure(subject, "ER003", "The same erasure again")

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        for finding in super().judge(subject, probes, answers):
            yield finding
            if finding.outcome == Outcome.FAIL and "unconfirmed" in subject.state:
                yield Finding(
                    "ER002", Outcome.FAIL, "Neither the first nor the second attempt was confirmed."
                )


def _erasure(subject: Subject, rule: str, title: str) -> Probe:
    ended, webhook, delivery = subject.state["erasure"]
    installation = Installation.objects.get(pk=ended)
    return subject.delivery(
        rule=rule,
        title=title,
        event=DATA_ERASURE,
        data=payloads.data_erasure(installation),
        webhook=Webhook.objects.get(pk=webhook),
        delivery_id=UUID(delivery),
    )


def _valid_requests(subject: Subject, rule: str, title: str) -> Iterator[Probe]:
    if subject.webhook is not None:
        yield valid(subject, rule, f"A delivery {title}")
    for hook in subject.hooks:
        data = hooks.any_data(hook.point, subject)
        if data.get("paymentMethodId") != "check":
            yield subject.hook_call(hook, rule=rule, title=f" {title}", data=data)
