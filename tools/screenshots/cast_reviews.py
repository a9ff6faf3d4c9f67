"""What is added to the demo's reviews: verdicts and messages, a submission that somebody holds, a suspended app, a release in steps.

Like `tools.screenshots.cast`, it imports the project only inside functions.
"""

from types import SimpleNamespace
from typing import Any

LONG_NAME = "Table cards with a name that goes on for as long as eighty characters will allow"
MESSAGES = (
    "Which account do I sign in with, and where do the notes appear?",
    "Sign in as kim@example.com.\nThe notes are under Reviews, after the first one.",
)


def add_reviews(cast: SimpleNamespace) -> None:
    from installations.services.sandbox import review_install
    from marketplace.models import Submission
    from marketplace.services import findings, reviews
    from marketplace.services.review_messages import send_message
    from tests import factories

    rae, studio = cast.rae, cast.northwind
    of = Submission.objects.filter
    cast.rounds = rounds = {
        "new": of(app=cast.notes).get(),
        "update": of(app=cast.shelf).latest("id"),
        "held": factories.submit(factories.app(studio, name=LONG_NAME, slug="cards", category="marketing")),
        "approved": of(app=cast.till).latest("id"),
        "rejected": of(app=cast.stamps, status="REJECTED").get(),
    }
    review_install(app=cast.notes, reviewer=rae)
    for author, text in zip((rae, studio), MESSAGES, strict=True):
        send_message(submission=rounds["new"], author=author, text=text)
    verdicts = {
        "functionality": {"verdict": "PASS", "note": ""},
        "security": {"verdict": "FAIL", "note": "The Webhook URL did not answer."},
    }
    findings.record_findings(submission=rounds["update"], reviewer=rae, findings=verdicts)
    of(pk=rounds["update"].pk).update(release="STEPS")
    of(pk=rounds["approved"].pk).update(findings=verdicts, notes="Well made.")
    reviews.take(submission=rounds["held"], reviewer=cast.otto)
    cast.mailer = factories.app(studio, name="Mail Storm", slug="mail-storm", category="marketing")
    factories.submit(cast.mailer, reviewer=rae)
    factories.approve(cast.mailer)
    reviews.suspend(app=cast.mailer, reviewer=rae, reason="Writes to customers who have not asked for it.")
    cast.steps = in_steps(cast.devi, rae)
    cast.shop_system = connected_shop(rae, cast.bell)


def connected_shop(operator: Any, app: Any) -> Any:
    """A shop system that `operator` may look after. One of its stores is silent, and the other has had rows refused."""
    from datetime import timedelta

    from django.contrib.auth.models import Permission
    from django.utils import timezone

    from accounts.services import shops
    from stores.connected.stores import open_store
    from stores.models import MirrorState
    from tests import factories

    operator.user_permissions.add(Permission.objects.get(codename="connect_shops"))
    now = timezone.now()
    shops.connect(name="Quayside Tills", is_test=True)
    system = shops.connect(
        name="Northwind Shops", commands_url="https://shops.example/commands", sign_in_url="https://shops.example/sign-in"
    ).system  # fmt: skip
    shops.new_key(system=system)
    for external_id, name in (("north", "Northwind Outdoor"), ("south", "Southwind Sails")):
        values = {"name": name, "currency": "EUR"}
        store = open_store(
            system=system, external_id=external_id, values=values, now=now - timedelta(days=40)
        )
        installation = factories.installation(app, store.business)
    _commands(installation, now)
    differed = {"missing": 3, "outdated": 12, "ahead": 0, "unknown": 1, "deleted": 1}
    at = (now - timedelta(hours=2)).isoformat()
    refused = {
        "resource": "orders", "externalId": "o-10442", "code": "validation_failed",
        "message": "amount: Must be subtotal - discount + deliveryFee + otherCharges.",
    }  # fmt: skip
    MirrorState.objects.update_or_create(
        business=store.business,
        defaults={
            "last_row_at": now - timedelta(minutes=3),
            "last_snapshot_at": now - timedelta(hours=2),
            "snapshots": {
                "orders": {"at": at, **dict.fromkeys(differed, 0)}, "products": {"at": at, **differed}
            },
            "refused": [{"at": at, **refused}, {"at": at, **refused, "externalId": "o-10377"}],
        },
    )  # fmt: skip
    return system


def _commands(installation: Any, now: Any) -> None:
    """What an app has asked a shop for today."""
    from datetime import timedelta
    from uuid import uuid4

    from extensions.models import ShopCommand

    asked = [("order.create", "DONE", 200, "")] * 2 + [
        ("order.set_status", "REFUSED", 409, "Order 10398 has left the warehouse."),
        ("order.set_status", "UNREACHABLE", None, "No answer within 10,000 ms."),
    ]
    ShopCommand.objects.bulk_create(
        ShopCommand(
            command_id=uuid4(), command=command, business=installation.business, installation=installation,
            sent_at=now - timedelta(minutes=7 * number), outcome=outcome, http_status=status, message=message,
            duration_ms=180 + 20 * number,
        )
        for number, (command, outcome, status, message) in enumerate(asked, start=1)
    )  # fmt: skip


def in_steps(developer: Any, reviewer: Any) -> Any:
    """An app whose second version is in one of five stores since yesterday."""
    from datetime import timedelta

    from django.utils import timezone

    from config.demo.history.sample_app import figures_until
    from installations.services.approval import follow_all
    from marketplace.models import App, Release
    from marketplace.services.apps import update_app
    from marketplace.services.reviews import approve, submit
    from stores.hookpoints import HookPoint
    from tests import factories

    app = factories.app(
        developer, name="Harbour Discounts", slug="harbour-discounts", category="sales", version="2.0.0",
        webhook_url="http://127.0.0.1:9/hooks",
    )  # fmt: skip
    factories.hook(app, HookPoint.DISCOUNTS)
    approve(submission=submit(app=app, developer=developer), reviewer=reviewer)
    for number in range(5):
        shop = factories.business(
            factories.merchant(f"harbour-{number}@example.com"), name=f"Quay {number + 1} Coffee"
        )
        factories.installation(app, shop)
    app = App.objects.get(pk=app.pk)
    update_app(app=app, changes={"version": "2.1.0", "webhook_url": "http://127.0.0.1:9/hooks/new"})
    second = submit(app=App.objects.get(pk=app.pk), developer=developer, release="STEPS")
    version = approve(submission=second, reviewer=reviewer)
    follow_all()
    now = timezone.now()
    Release.objects.filter(version=version).update(
        started_at=now - timedelta(hours=22), step_at=now - timedelta(hours=22), watched_from=now - timedelta(hours=22),
        final_health=figures_until(now),
    )  # fmt: skip
    return app
