"""Checks of an app that can't be installed: signatures by the secret of its test install, and frames."""

import hmac
import time
from collections.abc import Iterator
from typing import Any

import pytest

from accounts.models import Business, User
from conformance.enums import Outcome, Sender
from conformance.models import Run
from conformance.queries import results_of
from conformance.services.runs import advance, check_app, pending, start
from conformance.steps.frames import MAX_URLS
from extensions.services.manifests import save_manifest
from installations import services
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.extensions.manifests import block, hook
from tests.receivers import Answer, ReceivedRequest, Receiver
from webhooks.models import Delivery, Event, Webhook
from webhooks.services.app_defined import follow_app

WEBHOOK_RULES = ["WH001", "WH002", "WH003", "WH004", "WH005", "WH006", "WH007"]
HOOK_RULES = ["HK003", "HK004", "HK005", "HK006"]


class Careful(Receiver):
    """Verifies signatures with its secret, as the specification requires of receivers. Pages have none."""

    def __init__(self, secret: str, *, checks_age: bool = True) -> None:
        super().__init__()
        self.secret = secret
        self.checks_age = checks_age

    def _record(self, *args: Any) -> Answer:
        super()._record(*args)
        return Answer(status=self._status(self.requests[-1]))

    def _status(self, request: ReceivedRequest) -> int:
        timestamp = request.headers["x-webhook-timestamp"]
        signed = hmac.digest(self.secret.encode(), timestamp.encode() + b"." + request.body, "sha256").hex()
        fresh = not self.checks_age or abs(time.time() - int(timestamp)) < 300
        given = request.headers.get("x-webhook-signature")
        return 200 if given == f"sha256={signed}" and fresh else 401


@pytest.fixture(autouse=True)
def _development_machine(settings: Any) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def careful(installation: Installation) -> Iterator[Careful]:
    with Careful(installation.webhook_secret) as running:
        yield running


def listening(app: App, url: str, **manifest: Any) -> App:
    """The app with its Webhook URL registered for its test install."""
    App.objects.filter(pk=app.pk).update(webhook_url=url)
    app.refresh_from_db()
    save_manifest(app=app, developer=app.developer, document=manifest)
    follow_app(installations=list(Installation.objects.with_app().filter(app=app)))
    return app


def outcomes(run: Run, rules: list[str]) -> list[str]:
    found = {result.rule.id: result.outcome.value for result in results_of(run)}
    return [found[rule] for rule in rules]


def details(run: Run, rule: str) -> str:
    return " ".join(next(result.details for result in results_of(run) if result.rule.id == rule))


@pytest.mark.long
def test_signatures_are_tried_with_the_secret_of_the_test_install(
    app: App, installation: Installation, careful: Careful
) -> None:
    run = check_app(app=listening(app, careful.url))
    assert outcomes(run, ["IN001", *WEBHOOK_RULES]) == ["FAIL"] + ["PASS"] * 7
    assert {each.headers["x-webhook-event"] for each in careful.requests} == {"webhook.test"}
    own = {each.headers["x-webhook-business-id"] for each in careful.requests}
    assert own == {str(installation.business_id)}
    assert outcomes(run, ["WH008", "LC001", "ER001"]) == ["SKIPPED"] * 3
    assert not Delivery.objects.exists()
    assert not Event.objects.exists()


@pytest.mark.long
@pytest.mark.spec(
    "Contract 11 Members", "A check signs with the owner's install, also where another member has one"
)
def test_signatures_are_those_of_the_owners_install(
    app: App, installation: Installation, careful: Careful, sam: User
) -> None:
    factories.member(app, sam)
    services.test_install(app=app, developer=sam)
    run = check_app(app=listening(app, careful.url))
    assert outcomes(run, WEBHOOK_RULES) == ["PASS"] * 7
    own = {each.headers["x-webhook-business-id"] for each in careful.requests}
    assert own == {str(installation.business_id)}


def test_an_app_that_ignores_the_age_fails(app: App, installation: Installation) -> None:
    with Careful(installation.webhook_secret, checks_age=False) as careless:
        run = check_app(app=listening(app, careless.url))
    assert [rule for rule in WEBHOOK_RULES if outcomes(run, [rule]) == ["FAIL"]] == ["WH005", "WH006"]


def test_a_disabled_webhook_is_tried(app: App, installation: Installation, careful: Careful) -> None:
    listening(app, careful.url)
    Webhook.objects.update(is_active=False, disabled_at=installation.installed_at)
    assert outcomes(check_app(app=app), ["WH001"]) == ["PASS"]


def test_an_unreachable_server_is_named(app: App, installation: Installation) -> None:
    with Receiver() as gone:
        url = gone.url
    run = check_app(app=listening(app, url))
    assert outcomes(run, WEBHOOK_RULES) == ["FAIL"] * 7
    assert "no response" in details(run, "WH001")


@pytest.mark.long
def test_hooks_get_forged_calls_only(app: App, installation: Installation, careful: Careful) -> None:
    hooks = [hook(), hook(hookPoint="order.validate", url="validate", timeout=2000)]
    run = check_app(app=listening(app, f"{careful.url}base/", hooks=hooks))
    assert outcomes(run, ["HK001", *HOOK_RULES]) == ["SKIPPED"] + ["PASS"] * 4
    calls = [each for each in careful.requests if "x-webhook-event" not in each.headers]
    assert sorted(each.target for each in calls) == ["/base/hooks/discounts"] * 4 + ["/base/validate"] * 4
    assert all(f'"businessId":"{installation.business_id}"'.encode() in each.body for each in calls)


@pytest.mark.long
def test_hooks_that_accept_forged_calls_fail(
    app: App, installation: Installation, receiver: Receiver
) -> None:
    run = check_app(app=listening(app, receiver.url, hooks=[hook()]))
    assert outcomes(run, HOOK_RULES) == ["FAIL"] * 4
    assert "expected 401" in details(run, "HK003")


def test_without_a_test_install_no_signature_is_tried(
    app: App, sandbox: Business, receiver: Receiver
) -> None:
    run = check_app(app=listening(app, receiver.url, hooks=[hook()]))
    assert set(outcomes(run, WEBHOOK_RULES + HOOK_RULES)) == {"SKIPPED"}
    assert receiver.requests == []


def test_a_server_on_a_machine_of_the_developer_may_not_know_the_secret(
    app: App, installation: Installation, careful: Careful
) -> None:
    run = start(app=listening(app, careful.url), sender=Sender.DEVELOPER, origin="http://localhost:9")
    while pending(run):
        assert not [probe for probe in pending(run) if "X-Webhook-Signature" in probe.headers]
        run = advance(run=run, step=run.step, answers={})
    assert set(outcomes(run, WEBHOOK_RULES)) == {"SKIPPED"}


def test_frames_are_tried(app: App, installation: Installation, receiver: Receiver) -> None:
    receiver.respond_with(Answer(headers={"X-Frame-Options": "DENY"}))
    run = check_app(app=listening(app, "", blocks=[block(renderUrl=receiver.url)]))
    assert outcomes(run, ["IN001", "FR001"]) == ["FAIL", "FAIL"]
    assert "X-Frame-Options: DENY" in details(run, "FR001")
    assert (receiver.requests[0].method, receiver.requests[0].body) == ("GET", b"")


def test_urls_beyond_the_limit_are_counted(app: App, installation: Installation, receiver: Receiver) -> None:
    blocks = [
        block(blockType=f"b{number}", renderUrl=f"{receiver.url}{number}") for number in range(MAX_URLS + 2)
    ]
    run = check_app(app=listening(app, "", blocks=blocks))
    assert details(run, "FR001") == "2 more addresses weren't tried."
    assert len(receiver.requests) == MAX_URLS


def test_an_app_without_webhooks_hooks_and_frames_has_nothing_to_try(
    app: App, installation: Installation
) -> None:
    run = check_app(app=listening(app, ""))
    assert set(outcomes(run, [*WEBHOOK_RULES, *HOOK_RULES, "FR001"])) == {Outcome.SKIPPED.value}
    assert "neither a Webhook URL" in details(run, "WH001")
    assert "declares no hooks" in details(run, "HK003")
    assert "no frames" in details(run, "FR001")
