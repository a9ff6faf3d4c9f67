"""Mails how a data erasure ended: to the owner and the managers of the store, and to administrators if it isn't confirmed."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.access import people_of
from accounts.enums import MailKind
from accounts.models import User
from accounts.services.outbox import post, post_each
from common.mails.letters import Letter, MailPart, letter, platform_frame
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

    def write(person: User) -> Letter:
        with timezone.override(business.timezone):
            return letter(
                subject=subject,
                to=person.email,
                template="webhooks/mail/erasure.txt",
                context=context,
                frame=merchant_frame(business),
            )

    post_each(people_of([business])[business.pk], write, kind=MailKind.ERASURES)


def alarm(overdue: Sequence[Erasure]) -> None:
    """Mail the administrators which apps haven't confirmed. For the transaction that marks these erasures."""
    said = [
        MailPart(
            "paragraph",
            "These apps were asked to erase a business's or a customer's data and have not confirmed it:",
        )
    ]
    for erasure in overdue:
        names = f"{erasure.installation.app.slug} for {erasure.installation.business.slug}"
        of_customer = "" if erasure.customer_id is None else ", of one customer"
        said.append(MailPart("point", f"{names}, due {iso(erasure.due_at)}{of_customer}"))
    said.append(
        MailPart(
            "paragraph",
            "Contact their developers, then resend the request. A customer's can't be resent: nothing is kept of the person.",
        )
    )
    page = f"{settings.BASE_URL}/admin/webhooks/erasure/?state__exact={ErasureState.OVERDUE}"
    said.append(MailPart("button", page, "Open the erasures"))
    subject = f"{settings.EMAIL_SUBJECT_PREFIX}{len(overdue)} data erasures are not confirmed"
    for _, address in settings.ADMINS:
        post(Letter(subject, address, said, platform_frame()), kind="overdue-erasures")
