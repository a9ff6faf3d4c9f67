"""Mails to merchants about installed apps: what an app asks for since an approval, and apps that keep failing."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.access import people_of
from accounts.enums import MailKind
from accounts.models import Mail
from accounts.services import outbox
from common.mails.letters import MailDraft
from extensions.in_store.app_status import statuses_of
from extensions.in_store.capabilities import Requested, requested, requested_by
from extensions.models import Breaker, ExtensionState, MerchantNotice, ReachRequest
from installations.models import Installation, running, with_versions
from installations.queries import scope_reason
from marketplace.models import App
from marketplace.scopes import SCOPES
from stores.services.order_mails import merchant_frame
from webhooks.health import failing
from webhooks.models import Webhook

MAILS_AT_ONCE: Final = 100  # one approval, or one app's outage, may concern a hundred thousand installations
SKIPPED_FOR: Final = timedelta(hours=1)  # after which checkout without the app is worth a mail
ONE_MAIL_IN: Final = timedelta(hours=24)  # about trouble of one installation


def notify_merchants(*, now: datetime | None = None) -> int:
    """Have mails sent about what is due, in the transaction that notes it. Returns the number of installations."""
    now = now or timezone.now()
    sent = 0
    for step in (_ask, _warn):
        while batch := step(now):
            sent += batch
    return sent


# What apps ask for


def note_requests(*, app: App, installations: Sequence[Installation]) -> None:
    """Remember to mail merchants who are asked for scripts, widgets, hooks or hosts, or about their data, if no mail named it yet. For a
    receiver of `approval_followed`: three statements for any number of installations.
    """
    asked = _digests(app)
    terms = {each.pk: (each.agreed_version_id, each.is_in_release) for each in installations}
    concerned = {pk: asked[agreed] for pk, agreed in terms.items() if agreed in asked}
    if not concerned:
        return
    known = dict(
        MerchantNotice.objects.filter(installation__in=concerned).values_list("installation_id", "asked")
    )
    MerchantNotice.objects.bulk_create(
        [
            MerchantNotice(installation_id=pk, asked=digests, is_due=True)
            for pk, digests in concerned.items()
            if set(digests) - set(known.get(pk, ()))
        ],
        update_conflicts=True,
        unique_fields=["installation"],
        update_fields=["asked", "is_due"],
    )


def _digests(app: App) -> dict[tuple[UUID | None, bool], list[str]]:
    """By the version that stores agreed to, and whether an open release has reached them: a digest of each sentence that their merchants would read."""
    rows: dict[tuple[UUID | None, bool], list[ReachRequest]] = defaultdict(list)
    for row in ReachRequest.objects.filter(version__app=app).select_related("definition"):
        rows[row.version_id, row.in_release].append(row)
    return {
        agreed: [hashlib.sha256(text.encode()).hexdigest()[:16] for text in _texts(requested_by(found))]
        for agreed, found in rows.items()
    }


def _texts(asked: Requested) -> Iterator[str]:
    for each in asked.capabilities:
        yield f"{each.title}\n{each.detail}"
    if asked.data:
        yield "\n".join(asked.data.sentences)


@transaction.atomic
def _ask(now: datetime) -> int:
    """One mail for each installation, about scopes and reach together."""
    due = (
        Installation.objects.usable().filter(needs_reconsent=True, reconsent_notified_at=None).order_by("id")
    )
    by_scopes = due.select_for_update(of=("self",), no_key=True).values_list("pk", flat=True)[:MAILS_AT_ONCE]
    ids = list(by_scopes)
    notices = MerchantNotice.objects.filter(
        is_due=True, installation__app__suspended_at=None, installation__app__deleted_at=None
    )
    locked = notices.select_for_update(of=("self",), no_key=True).order_by("pk").values_list("pk", flat=True)
    ids += [pk for pk in locked[:MAILS_AT_ONCE] if pk not in set(ids)]
    if not ids:
        return 0
    MerchantNotice.objects.filter(pk__in=ids).update(is_due=False)
    Installation.objects.filter(pk__in=ids, needs_reconsent=True).update(reconsent_notified_at=now)
    _post(ids, MailKind.PERMISSION_QUESTIONS)
    return len(ids)


@outbox.writes(MailKind.PERMISSION_QUESTIONS)
def _question(mail: Mail) -> MailDraft | None:
    """None if nothing is asked any more."""
    installation = _installation_of(mail)
    if installation is None or not installation.is_active:
        return None
    scopes = installation.asked_scopes if installation.needs_reconsent else []
    asked = requested(installation)
    if not scopes and not asked:
        return None
    app, business = installation.app_fields, installation.business
    # Words of a developer stay on the page where mails carry no text of people.
    tells = business.capabilities.named_in_mails
    context = {
        "app": app,
        "business": business,
        "asks": scopes or asked.capabilities,
        "capabilities": asked.capabilities if tells else [],
        "data": asked.data if tells else None,
        "added": [SCOPES[name].sentence for name in scopes],
        "reason": scope_reason(installation) if tells else "",
        "page": f"{settings.BASE_URL}/merchant/apps/{installation.pk}/permissions/",
    }
    asks = "asks for more permissions" if scopes or asked.capabilities else "changes where your data goes"
    subject = f"{app.name} {asks} in {business.mailed_name}"
    return MailDraft(subject, "extensions/mail/question.txt", context, merchant_frame(business))


# Apps that keep failing


@transaction.atomic
def _warn(now: datetime) -> int:
    """Those whose updates fail by the rule of the pages, or that checkout has skipped for an hour. Test stores are left out:
    developers get their own mails.
    """
    ids = sorted({*_failing(now)[:MAILS_AT_ONCE], *_skipped(now)[:MAILS_AT_ONCE]})
    if not ids:
        return 0
    installed = Installation.objects.active().filter(pk__in=ids).order_by("id")
    list(installed.select_for_update(of=("self",), no_key=True).values_list("pk"))
    still = {*_failing(now).filter(installation__in=ids), *_skipped(now).filter(installation__in=ids)}
    MerchantNotice.objects.bulk_create(
        [MerchantNotice(installation_id=pk, trouble_mailed_at=now) for pk in sorted(still)],
        update_conflicts=True,
        unique_fields=["installation"],
        update_fields=["trouble_mailed_at"],
    )
    _post(sorted(still), MailKind.FAILING_APPS)
    return len(still)


def _failing(now: datetime) -> QuerySet[Any]:
    """Ids of installations with a webhook that `webhooks.queries.failing_since` counts."""
    rows = (
        Webhook.objects.kept().filter(failing(now)).annotate(began=Coalesce("failing_since", "disabled_at"))
    )
    return _unmailed(rows, now)


def _skipped(now: datetime) -> QuerySet[Any]:
    """Ids of installations with a hook that checkout has skipped for long."""
    off = ExtensionState.objects.filter(
        installation=OuterRef("installation"), definition=OuterRef("definition"), is_on=False
    )
    rows = Breaker.objects.filter(~Exists(off), open_since__lte=now - SKIPPED_FOR, definition__is_active=True)
    return _unmailed(rows.annotate(began=F("open_since")), now)


def _unmailed(rows: QuerySet[Any], now: datetime) -> QuerySet[Any]:
    """The installations of rows with `began` that no mail named since, of stores and apps that run."""
    notice = MerchantNotice.objects.filter(installation=OuterRef("installation"))
    news = Q(mailed=None) | Q(mailed__lt=F("began"), mailed__lte=now - ONE_MAIL_IN)
    concerned = rows.filter(
        running("installation__", "installation__app__"), installation__business__is_sandbox=False
    )
    found = concerned.annotate(mailed=Subquery(notice.values("trouble_mailed_at"))).filter(news)
    return found.order_by("installation").values_list("installation", flat=True).distinct()


@outbox.writes(MailKind.FAILING_APPS)
def _trouble(mail: Mail) -> MailDraft | None:
    """None if it recovered in the meantime."""
    installation = _installation_of(mail)
    if installation is None:
        return None
    status = statuses_of([installation], timezone.now())[installation.pk]
    if not status.is_in_trouble:
        return None
    app, business = installation.app_fields, installation.business
    context = {
        "app": app,
        "business": business,
        "failing_since": status.failing_since,
        "is_skipped": bool(status.skipped),
        "skipped_since": min((each.open_since for each in status.skipped if each.open_since), default=None),
        "page": f"{settings.BASE_URL}/merchant/apps/{installation.pk}/",
    }
    subject = f"{app.name} is having trouble in {business.mailed_name}"
    frame = merchant_frame(business)
    return MailDraft(subject, "extensions/mail/trouble.txt", context, frame, business.timezone)


# Writing


def _post(ids: Sequence[UUID], kind: MailKind) -> None:
    """To the owners and managers who want them. Each mail is written when it is sent, if its merchant still has to know."""
    rows = Installation.objects.filter(pk__in=ids).select_related("business__owner").order_by("id")
    found = list(rows.defer("webhook_secret"))
    people = people_of([installation.business for installation in found])
    outbox.post_in_bulk(
        (
            (to, installation.pk)
            for installation in found
            for _, to in outbox.wanting(people[installation.business_id], kind)
        ),
        kind=kind,
    )


def _installation_of(mail: Mail) -> Installation | None:
    rows = Installation.objects.select_related(*with_versions(), "business__owner").defer("webhook_secret")
    return rows.filter(pk=mail.about_id).first()
