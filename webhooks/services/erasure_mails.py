"""Mails the owner and the managers of a store how a data erasure ended: confirmed, not confirmed, or not sent."""

import logging
from typing import Final
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.access import people_of
from accounts.enums import MailKind
from accounts.services.profile import wants_mail
from common.mails.letters import letter
from installations.models import with_versions
from stores.letterhead import merchant_frame
from webhooks.enums import ErasureState
from webhooks.models import Erasure

log = logging.getLogger(__name__)

NEWS: Final = {
    ErasureState.CONFIRMED: "{app} erased the data of {business}",
    ErasureState.OVERDUE: "{app} hasn't confirmed erasing the data of {business}",
    ErasureState.UNADDRESSED: "{app} couldn't be asked to erase the data of {business}",
}


def mail_merchant(erasure_id: UUID) -> None:
    """Nothing for a sandbox store, whose developer sees it in the portal. A failing mail server is logged: the receipt has
    it all."""
    rows = Erasure.objects.select_related(
        *with_versions("installation__"), "installation__business__owner"
    ).defer("installation__webhook_secret")
    erasure = rows.get(pk=erasure_id)
    installation, business = erasure.installation, erasure.installation.business
    if business.is_sandbox:
        return
    wanted = [each for each in people_of([business])[business.pk] if wants_mail(each, MailKind.ERASURES)]
    if not wanted:
        return
    app = installation.app_fields
    context = {
        "app": app,
        "business": business,
        "erasure": erasure,
        "page": f"{settings.BASE_URL}/merchant/apps/{installation.pk}/receipt/",
    }
    subject = NEWS[ErasureState(erasure.state)].format(app=app.name, business=business.name)
    for person in wanted:
        with timezone.override(business.timezone):
            mail = letter(
                subject=subject,
                to=person.email,
                template="webhooks/mail/erasure.txt",
                context=context,
                frame=merchant_frame(business),
            )
        try:
            mail.send()
        except Exception as error:  # its text names the address
            log.error("A merchant of installation %s got no mail: %s", installation.pk, type(error).__name__)
