"""When an approval is in force in every store that has the app, and what the approval itself costs.

The approval takes a scope away and moves the Webhook URL and a hook. In force means: a stranger with a token of an old
installation is refused, which is so with the commit; and webhooks and hook calls go to the new URL, which is so once the worker has
written the version that each installation runs. Scopes, requests and mails follow later.

Other approvals bring an app its first Webhook URL, or one after it had none. That is in force once every installation has
a webhook, which the worker creates or switches on.
"""

import secrets
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from django.conf import settings
from django.db import connection
from django.db.models import Exists, OuterRef
from django.test import Client
from django.utils import timezone

from accounts.enums import Role
from benchmarks import shops
from benchmarks.options import Options
from benchmarks.portal import SPAN, Copies
from benchmarks.processes import Failed
from benchmarks.results import Goal, Row, milliseconds
from common.secrets import digest
from developers.review import decision_effects
from installations.models import Installation, with_versions
from installations.services import approval
from marketplace.enums import AppStatus
from marketplace.models import App, AppVersion, Submission
from marketplace.services import reviews
from stores.hookpoints import HookPoint
from webhooks.models import Webhook
from webhooks.queries import destination

FEW: Final = 100
ASKED: Final = 20  # installations that ask with their token
CHUNK: Final = 2_000
OLD, NEW = "https://old.example.com/hooks", "https://new.example.com/hooks"
PRODUCT: Final = f"/app-api/products/{uuid4()}"  # 404 with the scope
SCOPES: Final = ["read_products", "read_orders"]
KEPT: Final = ["read_orders"]


@dataclass(frozen=True, slots=True)
class Approved:
    seconds: float  # of the reviewer's page and decision
    memory: int  # bytes at its peak
    in_force: float  # seconds from the commit until every installation ran the version
    refused: int  # of `ASKED`
    followed: float  # seconds from the commit until all rows had followed


def approvals(options: Options) -> Iterator[Row]:
    """An app with 100,000 installations, to one with 100."""
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    many = 2_000 if options.quick else 100_000
    few, lots = (_approved(count) for count in (FEW, many))
    yield Row(
        f"Approval with {many:,} installations, to {FEW}",
        milliseconds(few.seconds),
        milliseconds(lots.seconds),
        lots.seconds / few.seconds,
        note=f"Its memory at the peak: {few.memory / 1e6:.1f} to {lots.memory / 1e6:.1f} MB.",
    )
    yield Row(
        "… until it was in force on every one",
        "",
        "",
        lots.in_force,
        Goal(10, 1, unit=" s"),
        doubt="" if lots.refused == ASKED else f"{ASKED - lots.refused} of {ASKED} tokens were not refused",
        note=f"The worker began at the commit. {ASKED} tokens were tried before. All rows had followed after "
        f"{lots.followed:.0f} s ({few.followed:.2f} s for {FEW}).",
    )
    for what, before in {"a first URL": "", "a URL after it had none": OLD}.items():
        in_force, followed = _new_url(many, before)
        yield Row(
            f"… until every one had the webhook of {what}",
            "",
            "",
            in_force,
            Goal(10, 5, unit=" s"),
            note=f"The worker began at the commit. Everything else was done after {followed:.0f} s.",
        )


def _new_url(count: int, before: str) -> tuple[float, float]:
    """Seconds from the commit of a Webhook URL until each installation has its webhook, and until all rows have followed.
    Before, the app had no URL, but may have had one earlier. A worker begins at once, as it does when the message of the
    commit arrives.
    """
    app, _ = _installed(count, url=before)
    AppVersion.objects.filter(app=app).update(webhook_url="")
    Webhook.objects.filter(installation__app=app).update(lacks_url=True, is_active=False)
    submission = _changed(app)
    reviews.approve(submission=submission, reviewer=shops.user(Role.DEVELOPER))
    committed = time.perf_counter()
    with ThreadPoolExecutor(1) as pool:
        worker = pool.submit(_follow_all)
        while _without_webhook(app):
            if worker.done():
                raise Failed(f"All rows followed, and {_without_webhook(app)} installations have no webhook.")
            time.sleep(0.5)  # a look takes the processor time of thousands of webhooks
        in_force = time.perf_counter() - committed
        worker.result()
    followed = time.perf_counter() - committed
    if wrong := _old(app):
        raise Failed(f"{wrong} webhooks don't lead to the new URL.")
    return in_force, followed


def _follow_all() -> None:
    try:
        approval.follow_all()
    finally:
        connection.close()


def _without_webhook(app: App) -> int:
    """A look at all active installations."""
    active = Webhook.objects.filter(installation=OuterRef("pk"), is_active=True, url=NEW)
    return Installation.objects.active().filter(app=app).exclude(Exists(active)).count()


def _approved(count: int) -> Approved:
    app, tokens = _installed(count, url=OLD)
    reviewer = shops.user(Role.DEVELOPER)
    submission = _changed(app)
    if (came := _refused(tokens)) != 0:
        raise Failed(f"{came} tokens were refused before the approval.")
    tracemalloc.start()
    began = time.perf_counter()
    list(decision_effects.of_approval(submission))
    version = reviews.approve(submission=submission, reviewer=reviewer)
    committed = time.perf_counter()
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    refused = _refused(tokens)
    with ThreadPoolExecutor(1) as pool:
        worker = pool.submit(_follow_all)
        while Installation.objects.active().filter(app=app).exclude(runs=version).exists():
            if worker.done():
                raise Failed("All rows followed, and some installations run the version before.")
            time.sleep(0.1)
        in_force = time.perf_counter() - committed
        worker.result()
    followed = time.perf_counter() - committed
    if wrong := _old(app):
        raise Failed(f"{wrong} webhooks don't lead to the new URL.")
    return Approved(committed - began, memory, in_force, refused, followed)


def _installed(count: int, *, url: str) -> tuple[App, Sequence[str]]:
    """An app with so many installations, each with an app-defined webhook if there is a URL; tokens of some."""
    since = timezone.now() - SPAN
    developer = shops.user(Role.DEVELOPER)
    app, owner = shops.app(developer), shops.business()
    app.scopes, app.webhook_url = SCOPES, url
    app.save()
    AppVersion.objects.filter(app=app).update(scopes=SCOPES, webhook_url=url)
    shops.hook_of(app, HookPoint.SHIPPING_RATES)
    installed = shops.installation(app, owner)
    installed.granted_scopes, installed.installed_at = SCOPES, since
    installed.save()
    copies = Copies(count, since, SPAN / count)
    copies.copy(owner, {"id": copies.id("b"), "slug": "'shop-' || %(salt)s || '-' || n"})
    copies.copy(
        installed,
        {
            "id": copies.id("c"),
            "business_id": copies.id("b"),
            "installed_at": copies.time,
            "token_digest": "NULL",
        },
    )
    if url:
        webhook = shops.webhook(installed, url)
        webhook.is_app_defined = True
        webhook.save()
        copies.copy(webhook, {"id": copies.id("d"), "installation_id": copies.id("c")})
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    tokens = [f"fbat_{secrets.token_urlsafe(32)}" for _ in range(ASKED)]
    for token, installation in zip(tokens, Installation.objects.filter(app=app)[:ASKED], strict=True):
        Installation.objects.filter(pk=installation.pk).update(token_digest=digest(token))
    return app, tokens


def _changed(app: App) -> Submission:
    """The working copy drops a scope and has another Webhook URL."""
    app.scopes, app.webhook_url, app.status, app.version = KEPT, NEW, AppStatus.PENDING_REVIEW, "2.0.0"
    app.save()
    return Submission.objects.create(
        app=app, version=app.version, removed_scopes=sorted(set(SCOPES) - set(KEPT))
    )


def _refused(tokens: Sequence[str]) -> int:
    """How many of them may not read products."""
    statuses = [
        Client().get(PRODUCT, headers={"authorization": f"Bearer {token}"}).status_code for token in tokens
    ]
    if unknown := set(statuses) - {404, 403}:
        raise Failed(f"The app API answered {unknown}.")
    return statuses.count(403)


def _old(app: App) -> int:
    """How many installations the approval isn't in force on. Reads each as a request and a dispatcher do."""
    old, last = 0, None
    rows = Webhook.objects.select_related(*with_versions("installation__"), "installation__business")
    rows = rows.defer("secret", "installation__webhook_secret").filter(installation__app=app).order_by("id")
    while chunk := list((rows.filter(id__gt=last) if last else rows)[:CHUNK]):
        old += sum(_is_old(each) for each in chunk)
        last = chunk[-1].id
    return old


def _is_old(webhook: Any) -> bool:
    return destination(webhook) != NEW or webhook.installation.effective_scopes != KEPT
