"""Manifests in the admin: on the review page, in the checks, and what a suspension does to them."""

import hmac
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from accounts.models import Business
from extensions.enums import ExtensionType
from extensions.queries import extensions_on
from extensions.services.manifests import save_manifest
from installations.models import Installation
from marketplace.models import App
from marketplace.services import reviews
from tests import factories
from tests.developers.review.reviewing import page_of, submitted
from tests.developers.review.test_checks import run
from tests.extensions.manifests import Document, admin_page, block, full, hook, script
from tests.receivers import Answer, ReceivedRequest, Receiver

AFTER = "Contract 6 After approval"


class Hooks(Receiver):
    """An app with a page that allows framing, and hooks that verify signatures as the specification requires."""

    def __init__(self, secret: str) -> None:
        super().__init__()
        self.secret = secret
        self.careless = False

    def _record(self, *args: Any) -> Answer:
        super()._record(*args)
        request = self.requests[-1]
        if request.method == "GET" or "x-webhook-event" in request.headers:
            return Answer()
        return Answer(status=200 if self.careless or self._genuine(request) else 401)

    def _genuine(self, request: ReceivedRequest) -> bool:
        timestamp = request.headers["x-webhook-timestamp"]
        signed = hmac.digest(self.secret.encode(), timestamp.encode() + b"." + request.body, "sha256").hex()
        fresh = abs(time.time() - int(timestamp)) < 300
        return fresh and request.headers["x-webhook-signature"] == f"sha256={signed}"


def save(app: App, document: Document) -> None:
    save_manifest(app=app, developer=app.developer, document=document)


def approved(app: App) -> App:
    reviews.approve(submission=submitted(app), reviewer=factories.reviewer())
    return App.objects.get(pk=app.pk)


@pytest.fixture
def installed(stars: App, sandbox: Business) -> Installation:
    return factories.installation(stars, sandbox)


@pytest.fixture
def hooks(installed: Installation, settings: Any) -> Iterator[Hooks]:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    with Hooks(installed.webhook_secret) as running:
        yield running


# --- The review page ----------------------------------------------------------------------------------


def test_review_page_shows_what_the_app_adds(admin: Client, stars: App) -> None:
    save(stars, {"blocks": [block()], "hooks": [hook()], "embeds": [script()]})
    App.objects.update(webhook_url="https://stars.example.com/hooks")
    stars.refresh_from_db()
    text = admin.get(page_of(submitted(stars))).text
    for part in ("Star rating", "order.calculate_discounts", "At checkout", "Script on every page"):
        assert part in text


def test_review_page_shows_what_changed_in_the_manifest(admin: Client, stars: App) -> None:
    save(stars, {"blocks": [block()]})
    stars = approved(stars)
    save(stars, {"blocks": [block(name="Ratings")]})
    App.objects.update(status="DRAFT")
    stars.refresh_from_db()
    again = submitted(stars)
    changes = admin.get(page_of(again)).context["manifests"].changes
    assert [(each.label, each.before, each.after) for each in changes] == [
        ("Block stars: name", ("Star rating",), ("Ratings",))
    ]


def test_decided_review_shows_the_reviewed_manifest(admin: Client, stars: App) -> None:
    save(stars, {"blocks": [block()]})
    submission = submitted(stars)
    reviews.approve(submission=submission, reviewer=factories.reviewer())
    save(stars, {"adminPages": [admin_page()]})
    shown = admin.get(page_of(submission)).context["manifests"]
    assert [defined.key for defined in shown.added] == ["stars"]


def test_hooks_that_check_signatures_pass(admin: Client, stars: App, hooks: Hooks) -> None:
    save(stars, {"hooks": [hook(), hook(hookPoint="order.validate", url="validate", timeout=2000)]})
    App.objects.update(webhook_url=f"{hooks.url}base/")
    stars.refresh_from_db()
    found = run(admin, submitted(stars))["Hook signatures"]
    assert [outcome for outcome, _ in found] == ["PASS"] * 4
    calls = [each for each in hooks.requests if "x-webhook-event" not in each.headers]
    assert sorted(each.target for each in calls) == ["/base/hooks/discounts"] * 2 + ["/base/validate"] * 2
    assert b'"hookPoint":"order.' in calls[0].body


def test_hooks_that_accept_any_signature_fail(admin: Client, stars: App, hooks: Hooks) -> None:
    save(stars, {"hooks": [hook()]})
    App.objects.update(webhook_url=hooks.url)
    stars.refresh_from_db()
    hooks.careless = True
    found = run(admin, submitted(stars))["Hook signatures"]
    assert [outcome for outcome, _ in found] == ["FAIL", "FAIL"]
    assert "answered 200" in found[0][1]
    assert "expected 401" in found[1][1]


def test_frames_are_checked_for_the_reviewer(admin: Client, stars: App, hooks: Hooks) -> None:
    save(stars, {"blocks": [block(renderUrl=hooks.url)], "adminPages": [admin_page(renderUrl=hooks.url)]})
    ((outcome, text),) = run(admin, submitted(stars))["Frames and scripts"]
    assert outcome == "WARN"  # plain HTTP
    assert text.startswith(f"Star rating, Stars: {hooks.url} answered 200")


def test_an_app_without_extensions_passes_both(admin: Client, stars: App) -> None:
    results = run(admin, submitted(stars))
    assert [outcome for outcome, _ in results["Frames and scripts"]] == ["PASS"]
    assert [outcome for outcome, _ in results["Hook signatures"]] == ["PASS"]


@pytest.mark.spec(AFTER, "A suspension turns extensions and hooks off, and can be lifted")
def test_suspension_turns_extensions_off_until_it_is_lifted(
    admin: Client, stars: App, shop: Business, sandbox: Business
) -> None:
    save(stars, full())
    stars = approved(stars)
    for business in (shop, sandbox):
        factories.installation(stars, business)

    def working() -> int:
        return sum(
            len(extensions_on(business, kind)) for business in (shop, sandbox) for kind in ExtensionType
        )

    assert working() == 10
    admin.post(page_of(stars, "suspend"), {"reason": "A new script reads card numbers."})
    assert working() == 0
    admin.post(page_of(stars, "reinstate"))
    assert working() == 10
