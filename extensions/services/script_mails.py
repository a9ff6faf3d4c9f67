"""Mails developers about a script of their app that serves something else."""

import logging
from typing import Any, Final

from django.conf import settings
from django.db.models import TextChoices

from accounts.enums import MailKind
from accounts.services.profile import wants_mail
from common.mails.letters import letter
from extensions.models import WatchedScript
from marketplace.access import people_to_notify

log = logging.getLogger(__name__)

TEMPLATE: Final = "extensions/mail/script.txt"


class News(TextChoices):
    """What a look at a script found."""

    CHANGED = "CHANGED", "{app}: a script has changed"
    DOES_NOT_MATCH = "DOES_NOT_MATCH", "{app}: a script isn’t on stores’ pages any more"
    MATCHES_AGAIN = "MATCHES_AGAIN", "{app}: a script is on stores’ pages again"


def mail_news(script: WatchedScript, news: News) -> None:
    """Once the look is committed. A failing mail server is logged, and the portal shows the same."""
    app = script.app
    context = script_context(script, app.name, app.slug, news)
    for person in people_to_notify(app):
        if not wants_mail(person, MailKind.CHECKS):
            continue
        try:
            subject = str(news.label).format(app=app.name)
            letter(
                subject=subject, to=person.email, template=TEMPLATE, context=context | {"person": person}
            ).send()
        except Exception:
            log.exception("A developer of %s could not be notified about a script.", app.slug)


def script_context(script: WatchedScript, name: str, slug: str, news: News) -> dict[str, Any]:
    page = f"{settings.BASE_URL}/portal/apps/{slug}/scripts/"
    return {"script": script, "app_name": name, "news": news.value, "page": page}
