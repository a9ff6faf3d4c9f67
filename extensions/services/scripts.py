"""Watches the scripts of listed apps (docs/decisions/0104): which are in force, what they serve, and what of that changed.

Each is looked at once an hour, after the approval at once, and every five minutes while it isn't what its developer pinned.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet, TextChoices
from django.utils import timezone

from accounts.enums import MailKind
from accounts.services.outbox import post_each
from common.db.rows import for_each
from common.db.transactions import forbid_transaction
from common.mails.letters import MailDraft
from common.processes.background import enqueue_after_commit
from extensions.enums import EmbedKind, ExtensionType
from extensions.models import LiveDefinition, ScriptChange, WatchedScript
from extensions.script_content import NOT_ASKED, Content, Source, fetch
from installations.models import Installation
from marketplace.access import people_to_notify
from marketplace.models import App
from stores.addresses import store_origin

TEMPLATE: Final = "extensions/mail/script.txt"
EVERY: Final = timedelta(
    minutes=58
)  # and within the minute a task begins, so that a change is noticed within the hour
SOONER: Final = timedelta(minutes=5)  # while it isn't what was pinned, and at first while it can't be fetched
LOOKED_AT: Final = 200  # due scripts, by one statement
WORKS_FOR: Final = 40.0  # seconds in which a task begins another request, of at most ten
KEPT_CHANGES: Final = 100  # of a script
MAILS_IN: Final = timedelta(hours=24)
PIN_MAILS: Final = 4  # about a script's pins in that time; and one about changes


# Mails developers about a script of their app that serves something else.


class News(TextChoices):
    """What a look at a script found."""

    CHANGED = "CHANGED", "{app}: a script has changed"
    DOES_NOT_MATCH = "DOES_NOT_MATCH", "{app}: a script isn’t on stores’ pages any more"
    MATCHES_AGAIN = "MATCHES_AGAIN", "{app}: a script is on stores’ pages again"


def mail_news(script: WatchedScript, news: News) -> None:
    """For the transaction of the look. The portal shows the same."""
    app = script.app
    subject = str(news.label).format(app=app.name)
    draft = MailDraft(subject, TEMPLATE, script_context(script, app.name, app.slug, news))
    post_each(people_to_notify(app), draft, kind=MailKind.CHECKS)


def script_context(script: WatchedScript, name: str, slug: str, news: News) -> dict[str, Any]:
    page = f"{settings.BASE_URL}/portal/apps/{slug}/scripts/"
    return {"script": script, "app_name": name, "news": news.value, "page": page}


# Which are in force


def watch_approved(app: App) -> None:
    """For the transaction of an approval: its scripts are looked at once that is committed."""
    if settings.WATCH_SCRIPTS:
        find_scripts(app=app)
        enqueue_after_commit("extensions.tasks.look_at_scripts")


@transaction.atomic
def find_scripts(*, app: App | None = None, now: datetime | None = None) -> None:
    """Compare what is watched with the definitions that stores run, of one app or of all."""
    now = now or timezone.now()
    in_force = _in_force(app)
    of_app = {} if app is None else {"app": app}
    locked = WatchedScript.objects.select_for_update().filter(**of_app).order_by("pk")
    known = {(row.app_id, row.url): row for row in locked}
    for key in known.keys() - in_force.keys():
        if known[key].is_in_force:
            WatchedScript.objects.filter(pk=known[key].pk).update(
                is_in_force=False, pins=[], is_unmatched=False, told_unmatched=[]
            )
    both = sorted(known.keys() & in_force.keys())
    for_each(both, lambda key: _update(known[key], in_force[key], now), task="find_scripts")
    new = in_force.keys() - known.keys()
    WatchedScript.objects.bulk_create(
        (
            WatchedScript(app_id=app_id, url=url, pins=in_force[app_id, url], in_force_since=now, due_at=now)
            for app_id, url in sorted(new)  # so that two don't wait for each other in a circle
        ),
        ignore_conflicts=True,
    )


def _in_force(app: App | None) -> dict[tuple[UUID, str], list[str]]:
    """The pins of each script, by app and address."""
    approved = App.objects.live().exclude(approved_version=None)  # a suspended one may come back
    rows = LiveDefinition.objects.filter(
        definition__type=ExtensionType.EMBED,
        definition__is_active=True,
        version__app__in=approved if app is None else approved.filter(pk=app.pk),
    )
    found: dict[tuple[UUID, str], set[str]] = defaultdict(set)
    for app_id, content in rows.values_list("version__app", "content").iterator():
        if content["kind"] == EmbedKind.GLOBAL_SCRIPT:
            found[app_id, content["scriptUrl"]] |= (
                {content["integrity"]} if content.get("integrity") else set()
            )
    return {key: sorted(pins) for key, pins in found.items()}


@transaction.atomic
def _update(row: WatchedScript, pins: list[str], now: datetime) -> None:
    changes: dict[str, Any] = {}
    if row.pins != pins:
        changes |= {"pins": pins, "due_at": now}
    if not row.is_in_force:
        changes |= {"is_in_force": True, "in_force_since": now, "due_at": now}
    if changes:
        WatchedScript.objects.filter(pk=row.pk).update(**changes)


# Looks


def look_at_due(*, now: datetime | None = None) -> int:
    """Fetch the scripts that are due, for less than a minute. Returns how many. Not inside a transaction."""
    if not settings.WATCH_SCRIPTS:
        return 0
    forbid_transaction()
    until, looked = monotonic() + WORKS_FOR, 0
    while monotonic() < until and (due := _due(now or timezone.now())):
        sources: dict[UUID, Source] = {}
        for_each(due.values(), partial(_prepare, sources, now), task="look_at_scripts")
        found = fetch(sources, until=until)
        looked += for_each(
            ((due[pk], content) for pk, content in found),
            partial(_see_or_put_off, now),
            task="look_at_scripts",
        )
    return looked


def _prepare(sources: dict[UUID, Source], now: datetime | None, row: WatchedScript) -> None:
    with _put_off_where_it_fails(row, now):
        sources[row.pk] = Source(row.url, row.app_id, page_with(row.app))


def _see_or_put_off(now: datetime | None, seen: tuple[WatchedScript, Content]) -> bool:
    """Whether it was looked at."""
    row, content = seen
    if content is NOT_ASKED:
        _put_off(row, now)
        return False
    with _put_off_where_it_fails(row, now):
        record(script=row, content=content, now=now or timezone.now())
    return True


@contextmanager
def _put_off_where_it_fails(row: WatchedScript, now: datetime | None) -> Iterator[None]:
    """So that this run doesn't find it again."""
    try:
        yield
    except Exception:
        _put_off(row, now)
        raise


def _put_off(row: WatchedScript, now: datetime | None) -> None:
    WatchedScript.objects.filter(pk=row.pk).update(due_at=(now or timezone.now()) + SOONER)


def _due(now: datetime) -> dict[UUID, WatchedScript]:
    due = _watched().filter(due_at__lte=now).order_by("due_at", "pk").select_related("app")
    return {row.pk: row for row in due[:LOOKED_AT]}


def _watched() -> "QuerySet[WatchedScript]":
    return WatchedScript.objects.filter(is_in_force=True, app__suspended_at=None, app__deleted_at=None)


def page_with(app: App) -> str:
    """The address of a store that runs the app, as the browser of one of its shoppers names it."""
    running = Installation.objects.running().filter(app=app, is_test=False, business__is_sandbox=False)
    slug = running.values_list("business__slug", flat=True).first()
    return f"{store_origin(slug or 'store')}/"


@transaction.atomic
def record(*, script: WatchedScript, content: Content, now: datetime) -> None:
    """Keep what a look has seen. A script that couldn't be fetched hasn't changed."""
    row = WatchedScript.objects.select_for_update().filter(pk=script.pk).first()
    if row is None:
        return
    if content.problem:
        row.problem, row.problem_since = content.problem, row.problem_since or now
    else:
        is_change = _see(row, content, now)
        if news := _pin_news(row, now) or (_change_news(row, now) if is_change else None):
            mail_news(row, news)
    row.due_at = now + _until_next(row, now)
    row.save()


def _until_next(row: WatchedScript, now: datetime) -> timedelta:
    """One that can't be fetched is left alone for as long as that has lasted, and looked at once an hour at last."""
    if row.problem_since is not None:
        return max(SOONER, min(EVERY, now - row.problem_since))
    return SOONER if row.is_unmatched else EVERY


def _see(row: WatchedScript, content: Content, now: datetime) -> bool:
    """Whether it has changed."""
    digests, size = content.digests, len(content.body)
    is_change = bool(row.digests) and row.digests != digests
    if is_change:
        _keep_change(row, digests["sha256"], size, now)
    row.digests, row.size, row.seen_at, row.problem, row.problem_since = digests, size, now, "", None
    row.is_unmatched = bool(row.unmatched_pins)
    return is_change


def _keep_change(row: WatchedScript, sha256: str, size: int, now: datetime) -> None:
    ScriptChange.objects.create(
        script=row, at=now, before=row.sha256, after=sha256, size_before=row.size or 0, size=size
    )
    old = ScriptChange.objects.filter(script=row).order_by("-id").values_list("pk", flat=True)[KEPT_CHANGES:]
    ScriptChange.objects.filter(pk__in=list(old)).delete()
    row.changed_at = now


def scripts_of(app: App) -> "QuerySet[WatchedScript]":
    """Those that stores run, in the order of their addresses."""
    return WatchedScript.objects.filter(app=app, is_in_force=True).order_by("url")


def changed_lately(since: datetime) -> "QuerySet[WatchedScript]":
    """Scripts of all apps that changed or don't match, the newest change first."""
    changed = Q(changed_at__gte=since) | Q(is_unmatched=True)
    return (
        _watched().filter(changed).select_related("app").order_by(F("changed_at").desc(nulls_last=True), "pk")
    )


# Mails. A script that is another one for each request mustn't fill a mailbox; the portal shows every change.


def _pin_news(row: WatchedScript, now: datetime) -> News | None:
    """What the last mail about pins didn't say. Beyond a day's mails, it is said with the first look of the next."""
    unmatched, notified = set(row.unmatched_pins), set(row.told_unmatched)
    row.pin_mails = [at for at in row.pin_mails if now - datetime.fromisoformat(at) < MAILS_IN]
    is_news = bool(unmatched - notified or (notified and not unmatched))
    if not is_news or len(row.pin_mails) >= PIN_MAILS:
        return None
    row.told_unmatched, row.pin_mails = sorted(unmatched), [*row.pin_mails, now.isoformat()]
    return News.DOES_NOT_MATCH if unmatched else News.MATCHES_AGAIN


def _change_news(row: WatchedScript, now: datetime) -> News | None:
    if row.is_unmatched or (row.mailed_at is not None and now - row.mailed_at < MAILS_IN):
        return None
    row.mailed_at = now
    return News.CHANGED
