"""Mails how a data erasure ended: to the owner and the managers of the store, and to administrators if it isn't confirmed."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.conf import settings

from accounts.access import people_of
from accounts.enums import MailKind
from accounts.services.outbox import post, post_each
from common.mails.letters import MailDraft
from common.times import iso
from installations.models import with_versions
from stores.services.order_mails import merchant_frame
from webhooks.enums import ErasureState
from webhooks.models import Erasure

NEWS: Final = {
    ErasureState.CONFIRMED: "{app} erased the data of {business}",
    ErasureState.OVERDUE: "{app} hasn't confirmed erasing the data of {business}",
    ErasureState.UNADDRESSED: "{app} couldn't be asked to erase the data of {business}",
}


def mail_merchant(erasure_id: UUID) -> None:
    """For the transaction that moves the erasure. Nothing for a sandbox store, whose developer sees it in the portal."""
    rows = Erasure.objects.select_related(
        *with_versions("installation__"), "installation__business__owner"
    ).defer("installation__webhook_secret")
    erasure = rows.get(pk=erasure_id)
    installation, business = erasure.installation, erasure.installation.business
    if business.is_sandbox:
        return
    app = installation.app_fields
    context = {
        "app": app,
        "business": business,
        "erasure": erasure,
        "page": f"{settings.BASE_URL}/merchant/apps/{installation.pk}/receipt/",
    }
    subject = NEWS[ErasureState(erasure.state)].format(app=app.name, business=business.mailed_name)
    frame = merchant_frame(business)
    draft = MailDraft(subject, "webhooks/mail/erasure.txt", context, frame, business.timezone)
    post_each(people_of([business])[business.pk], draft, kind=MailKind.ERASURES)


def alarm(overdue: Sequence[Erasure]) -> None:
    """Mail the administrators which apps haven't confirmed. For the transaction that marks these erasures."""
    rows = [
        (each.installation.app.slug, each.installation.business.slug, iso(each.due_at), each.customer_id)
        for each in overdue
    ]
    page = f"{settings.BASE_URL}/admin/webhooks/erasure/?state__exact={ErasureState.OVERDUE}"
    facts = {"overdue": rows, "page": page}
    subject = f"{settings.EMAIL_SUBJECT_PREFIX}{len(overdue)} data erasures are not confirmed"
    for _, address in settings.ADMINS:
        post(MailDraft(subject, "webhooks/mail/overdue.txt", facts), to=address, kind="overdue-erasures")
