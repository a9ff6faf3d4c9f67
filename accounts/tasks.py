"""Work of accounts that happens behind a request, or daily."""

from collections.abc import Sequence

from celery import shared_task
from django.utils import timezone

from accounts import email_keys
from accounts.models import DeviceGrant, SignIn, Staff, User
from accounts.services import (
    confirmation,
    outbox,
    profile,
    second_factor,
    security_log,
    sender,
)
from accounts.services.staff import STAFF
from accounts.sign_in import tickets
from accounts.sign_in.origins import Origin
from accounts.sign_in.sessions import SessionStore
from common.db.leases import alone
from common.mails.letters import Letter, MailPart, platform_frame


@shared_task
@alone
def send_mails() -> None:
    sender.send_due()


@shared_task
def record_failed_sign_in(email: str, device: str, network: str) -> None:
    """By a worker, since the time that writing takes would tell which addresses have accounts."""
    security_log.record_failed_sign_in(email=email, origin=Origin(device, network))


@shared_task
def remove_old_security_events() -> None:
    security_log.remove_old()


@shared_task
def remove_ended_sign_ins() -> None:
    """Sessions, sign-ins of the API, device codes and tickets that can't be used any more, and wrong codes that no longer count."""
    now = timezone.now()
    SessionStore.clear_expired()
    SignIn.objects.filter(expires_at__lt=now).delete()
    DeviceGrant.objects.filter(expires_at__lt=now).delete()
    tickets.remove_late(now=now)
    second_factor.forget_old_wrong_codes()


@shared_task
def complete_email_keys() -> None:
    email_keys.complete(User)


# What processes of the version before send, during an upgrade


@shared_task
def mail_password_reset(email: str) -> None:
    profile.mail_reset(email=email)


@shared_task
def mail_confirmation(email: str, next_url: str = "") -> None:
    confirmation.mail_confirmation(email=email, next_url=next_url)


@shared_task
def mail_account_exists(email: str) -> None:
    confirmation.mail_account_exists(email=email)


@shared_task
def mail_new_email(user_id: str) -> None:
    for user in User.objects.filter(pk=user_id).exclude(pending_email=""):
        profile.mail_new_email(user=user)


@shared_task
def mail_staff_invitation(staff_id: str) -> None:
    for row in Staff.objects.filter(pk=staff_id, user=None):
        STAFF.mail_invitation(row)


@shared_task
def send_mail(subject: str, parts: Sequence[Sequence[str]], to: str) -> None:
    said = [MailPart(*row) for row in parts]  # type: ignore[arg-type]
    outbox.post_written(Letter(subject, to, said, platform_frame()), kind=outbox.ACCOUNT)
