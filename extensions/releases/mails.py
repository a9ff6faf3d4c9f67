"""Mails developers that a release has halted by itself."""

import logging
from typing import Any, Final
from uuid import UUID

from django.conf import settings

from accounts.enums import MailKind
from accounts.services.profile import wants_mail
from common.mails.letters import letter
from marketplace.access import people_to_notify
from marketplace.enums import ReleaseState
from marketplace.models import Release

log = logging.getLogger(__name__)

TEMPLATE: Final = "extensions/mail/halted.txt"


def mail_halt(*, version_id: UUID) -> None:
    """Unless it goes on already. A failing mail server is logged, and the portal shows the same."""
    halted = Release.objects.filter(pk=version_id, state=ReleaseState.HALTED)
    release = halted.select_related("version__app__developer").first()
    if release is None:
        return
    version = release.version
    subject = halt_subject(version.name, version.version)
    context = halt_context(version.name, version.version, version.app.slug, release.percent, release.reason)
    for person in people_to_notify(version.app):
        if not wants_mail(person, MailKind.RELEASES):
            continue
        try:
            letter(
                subject=subject, to=person.email, template=TEMPLATE, context=context | {"person": person}
            ).send()
        except Exception:
            log.exception("A developer of %s got no mail about its halted release.", version.app.slug)


def halt_subject(name: str, version: str) -> str:
    return f"{name} {version}: the release has halted"


def halt_context(name: str, version: str, slug: str, percent: int, reason: str) -> dict[str, Any]:
    page = f"{settings.BASE_URL}/portal/apps/{slug}/release/"
    return {"app_name": name, "version": version, "percent": percent, "reason": reason, "page": page}
