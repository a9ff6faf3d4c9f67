"""Mails developers about what a weekly check changed."""

from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings

from accounts.enums import MailKind
from accounts.models import User
from accounts.services.outbox import post_each
from common.mails.letters import Letter, letter
from conformance.enums import Change
from conformance.models import FAILED_WEEKS, Run, WeeklyCheck
from conformance.queries import Broken, broken_rules
from marketplace.access import people_to_notify

_SUBJECTS: Final = {
    Change.BROKEN: "{app} failed its weekly check",
    Change.LISTED: "{app}: the listing says that it doesn’t pass its checks",
    Change.PASSED: "{app} passes its checks again",
}
TEMPLATE: Final = "conformance/mail/weekly.txt"


def mail_change(row: WeeklyCheck, run: Run, change: Change) -> None:
    """For the transaction of the result. The portal shows the same."""
    app = run.app
    context = weekly_context(app.name, app.slug, change, broken_rules(row, run), str(run.pk))
    context["is_on_listing"] = row.is_on_listing
    subject = _SUBJECTS[change].format(app=app.name)

    def write(person: User) -> Letter:
        return letter(
            subject=subject, to=person.email, template=TEMPLATE, context=context | {"person": person}
        )

    post_each(people_to_notify(app), write, kind=MailKind.CHECKS)


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
