"""Mails developers about what a weekly check changed."""

import logging
from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings

from accounts.enums import MailKind
from accounts.services.profile import wants_mail
from common.mails.letters import letter
from conformance.enums import Change
from conformance.models import FAILED_WEEKS, Run, WeeklyCheck
from conformance.queries import Broken, broken_rules
from marketplace.access import people_to_notify

log = logging.getLogger(__name__)

_SUBJECTS: Final = {
    Change.BROKEN: "{app} failed its weekly check",
    Change.LISTED: "{app}: the listing says that it doesn’t pass its checks",
    Change.PASSED: "{app} passes its checks again",
}
TEMPLATE: Final = "conformance/mail/weekly.txt"


def mail_change(row: WeeklyCheck, run: Run, change: Change) -> None:
    """Once the result is committed. A failing mail server is logged, and the portal shows the same."""
    app = run.app
    context = weekly_context(app.name, app.slug, change, broken_rules(row, run), str(run.pk))
    context["is_on_listing"] = row.is_on_listing
    for person in people_to_notify(app):
        if not wants_mail(person, MailKind.CHECKS):
            continue
        try:
            subject = _SUBJECTS[change].format(app=app.name)
            letter(
                subject=subject, to=person.email, template=TEMPLATE, context=context | {"person": person}
            ).send()
        except Exception:
            log.exception("A developer of %s could not be notified of its weekly check.", app.slug)


def weekly_context(
    name: str, slug: str, change: Change, broken: Sequence[Broken], run_id: str
) -> dict[str, Any]:
    checks = f"{settings.BASE_URL}/portal/apps/{slug}/checks/"
    return {
        "app_name": name,
        "change": change.value,
        "broken": broken,
        "weeks": FAILED_WEEKS,
        "page": f"{checks}{run_id}/",
        "guide": f"{settings.BASE_URL}/docs/guides/testing-your-app/",
    }
