"""What a run tests: the app's server, its throwaway store and installation, and the requests for them. And what a step is: requests, and
the findings of their responses.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final
from urllib.parse import urljoin, urlsplit, urlunsplit
from uuid import UUID

import orjson

from accounts.models import Business
from common.ids import new_id
from conformance.enums import Expected, Outcome
from conformance.models import Run
from conformance.probes import AppResponse, Finding, Probe, judged
from extensions import definitions
from extensions.definitions import Hook, hook_address
from extensions.enums import ExtensionType
from extensions.hooks import calling
from extensions.manifest.content import Defined
from extensions.models import Definition, LiveDefinition
from installations.models import Grant, Installation
from installations.queries import sandbox_installation
from installations.services.authorization import agree
from marketplace.models import App, AppFields
from stores.models import Order, OrderChange
from webhooks.filters.judging import stopped_by
from webhooks.messages import message
from webhooks.models import Event, Webhook
from webhooks.queries import events_of, filter_of

OLD: Final = timedelta(minutes=10)  # receivers accept at most five
SIGNATURES: Final = ("X-Webhook-Signature", "webhook-signature")  # of both schemes


def address_in_run(run: Run, url: str) -> str:
    """Where a registered URL is on the server under test. URLs on other hosts than the app's own stay as they are."""
    if not run.origin:
        return url
    parts, app = urlsplit(url), run.app
    own = {urlsplit(each)[:2] for each in (app.redirect_url, app.webhook_url) if each}
    if parts[:2] not in own:
        return url
    scheme, host, *_ = urlsplit(run.origin)
    return urlunsplit(parts._replace(scheme=scheme, netloc=host))


class Subject:
    """For one step of a run. `state` is kept for later steps."""

    def __init__(self, run: Run, now: datetime) -> None:
        assert run.store is not None
        self.run = run
        self.now = now
        self.app: App = run.app
        self.store: Business = run.store
        self.state: dict[str, Any] = run.state

    def address(self, url: str) -> str:
        return address_in_run(self.run, url)

    @property
    def tried(self) -> AppFields:
        """The working copy, or the approved version that is tried."""
        return self.run.version or self.app

    @cached_property
    def redirect_url(self) -> str:
        return self.address(self.tried.redirect_url)

    @cached_property
    def installation(self) -> Installation | None:
        active = Installation.objects.active().with_app().filter(app=self.app, business=self.store)
        return active.first()

    @property
    def installed(self) -> Installation:
        assert self.installation is not None
        return self.installation

    @cached_property
    def signer(self) -> Installation | None:
        """Whose secret signs. An app that couldn't be installed knows the one of its test install.

        A server on a developer's machine may not know it, and the one of an approved version may be another than the sandbox's.
        """
        if self.installation or self.run.origin or self.run.version:
            return self.installation
        return sandbox_installation(app=self.app, developer=self.app.developer)

    @cached_property
    def webhook(self) -> Webhook | None:
        """The signer's: the one for the app's Webhook URL, or the first that the app registered itself."""
        if self.signer is None:
            return None
        own = Webhook.objects.kept().filter(installation=self.signer).select_related("installation")
        return own.order_by("-is_app_defined", "id").first()

    @cached_property
    def events(self) -> list[str]:
        return events_of(self.webhook, self.installation) if self.webhook and self.installation else []

    def stopped_by(self, event: str, data: Mapping[str, Any]) -> str:
        """The condition of the webhook's filter that keeps this event from the app. Such an event counts as delivered."""
        assert self.webhook is not None
        return stopped_by(
            filter_of(self.webhook, self.webhook.installation), event, orjson.loads(orjson.dumps(data))
        )

    @cached_property
    def hooks(self) -> list[Hook]:
        """Without a Webhook URL they have no address."""
        rows = [row for row in self._definitions if row.type == ExtensionType.HOOK]
        return [definitions.hook(row) for row in rows] if self.tried.webhook_url else []

    @property
    def defined(self) -> list[Defined]:
        """The definitions of the manifest."""
        return [
            Defined(ExtensionType(row.type), row.key, row.position, row.content) for row in self._definitions
        ]

    @cached_property
    def _definitions(self) -> list[Definition]:
        """Of the working copy, or as the stores of the approved version run them."""
        if self.run.version is None:
            return list(Definition.objects.filter(app=self.app, is_active=True).order_by("id"))
        live = LiveDefinition.objects.filter(version=self.run.version, definition__is_active=True)
        rows = []
        for each in live.select_related("definition").order_by("definition"):
            each.definition.content = each.content
            rows.append(each.definition)
        return rows

    def code(self, *, challenge: str = "", names_redirect_uri: bool = True) -> Grant:
        return agree(
            app=self.app,
            version=self.run.version,
            store=self.store,
            redirect_uri=self.redirect_url,
            code_challenge=challenge,
            names_redirect_uri=names_redirect_uri,
        )

    def effects(self) -> int:
        """A number that grows with each change that the app makes in the store."""
        orders = Order.objects.filter(business=self.store)
        return orders.count() + OrderChange.objects.filter(order__business=self.store).count()

    def delivery(
        self,
        *,
        rule: str,
        title: str,
        event: str,
        data: Mapping[str, Any],
        expected: Expected = Expected.ACCEPTED,
        webhook: Webhook | None = None,
        secret: str = "",
        delivery_id: UUID | None = None,
        sent_at: datetime | None = None,
        occurred_at: datetime | None = None,
        about: str = "",
    ) -> Probe:
        """A delivery, by default a valid one of this moment to `webhook`."""
        target = webhook or self.webhook
        assert target is not None
        delivery_id = delivery_id or new_id()
        composed = message.compose(
            event=Event(
                type=event,
                business_id=target.installation.business_id,
                data=orjson.dumps(data).decode(),
                occurred_at=occurred_at or self.now,
            ),
            delivery_id=delivery_id,
            webhook_id=target.pk,
            url=self.address(target.url),
            secret=secret or target.secret,
            now=sent_at or self.now,
        )
        return Probe(
            name=str(new_id()),
            rule=rule,
            title=title,
            expected=expected,
            url=composed.url,
            headers=composed.headers,
            body=composed.body.decode(),
            about=about or str(delivery_id),
        )

    def hook_call(
        self,
        hook: Hook,
        *,
        rule: str,
        title: str,
        data: Mapping[str, Any],
        expected: Expected = Expected.ACCEPTED,
        secret: str = "",
        sent_at: datetime | None = None,
    ) -> Probe:
        assert self.signer is not None
        request = calling.compose(
            point=hook.point,
            business_id=self.signer.business_id,
            data=data,
            secret=secret or self.signer.webhook_secret,
            now=sent_at or self.now,
        )
        return Probe(
            name=str(new_id()),
            rule=rule,
            title=f"{hook.point}{title}",
            expected=expected,
            url=hook_address(self.address(self.tried.webhook_url), hook.path),
            headers={"Content-Type": "application/json", **request.headers},
            body=request.body.decode(),
            seconds=hook.timeout / 1000,
            max_body=64 * 1024,
            about=hook.point.value,
        )


# --- A step ------------------------------------------------------------------------------------------

NO_ANSWER = AppResponse(None, error="nothing was sent")
Answers = Mapping[str, AppResponse]


class Step:
    """The requests of a step are independent of one another, so they may be sent side by side."""

    needs_install = True  # skipped where the app couldn't be installed

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        """What to send. It may change the store first."""
        return ()

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        """Also called for a step without requests."""
        for probe in probes:
            yield judged(probe, answers.get(probe.name, NO_ANSWER))


def joined(base: str, reference: str) -> str:
    """The address that a reference on a page leads to. Empty for one that is no address."""
    try:
        url = urljoin(base, reference)
        urlsplit(url).port  # noqa: B018  raises for a wrong one
    except ValueError:
        return ""
    return url


def skipped(text: str, *rules: str) -> Iterator[Finding]:
    for rule in rules:
        yield Finding(rule, Outcome.SKIPPED, text)
