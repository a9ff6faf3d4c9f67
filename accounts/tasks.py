"""Work of accounts that happens behind a request, or daily.

Mails are sent by a worker: the time that sending takes would tell which addresses have accounts.
"""

from collections.abc import Sequence

from celery import shared_task
from django.utils import timezone

from accounts.models import DeviceGrant, SignIn, User
from accounts.services import confirmation, passwords, profile, second_factor, security_log, staff
from accounts.sign_in.origins import Origin
from accounts.sign_in.sessions import SessionStore
from common.mails.letters import letter
from common.mails.parts import from_rows


@shared_task
def mail_password_reset(email: str) -> None:
    passwords.send_password_reset(email=email)


@shared_task
def mail_confirmation(email: str, next_url: str = "") -> None:
    for user in User.objects.filter(email=email, is_active=True):
        confirmation.send_confirmation(user=user, next_url=next_url)


@shared_task
def mail_account_exists(email: str) -> None:
    for user in User.objects.filter(email=email, is_active=True):
        confirmation.send_account_exists(user=user)


@shared_task
def mail_new_email(user_id: str) -> None:
    for user in User.objects.filter(pk=user_id, is_active=True):
        profile.mail_new_email(user=user)


@shared_task
def mail_staff_invitation(staff_id: str) -> None:
    staff.mail_invitation(staff_id=staff_id)


@shared_task
def send_mail(subject: str, parts: str | Sequence[Sequence[str]], to: str) -> None:
    """`parts` are those of `common.mails.parts.as_rows`; a process of the version before sends the text."""
    letter(
        subject=subject, to=to, parts=from_rows([["quote", parts]] if isinstance(parts, str) else parts)
    ).send()


@shared_task
def record_failed_sign_in(email: str, device: str, network: str) -> None:
    """By a worker, since the time that writing takes would tell which addresses have accounts."""
    security_log.record_failed_sign_in(email=email, origin=Origin(device, network))


@shared_task
def remove_old_security_events() -> None:
    security_log.remove_old()


@shared_task
def remove_ended_sign_ins() -> None:
    """Sessions, sign-ins of the API and device codes that can't be used any more, and wrong codes that no longer count."""
    now = timezone.now()
    SessionStore.clear_expired()
    SignIn.objects.filter(expires_at__lt=now).delete()
    DeviceGrant.objects.filter(expires_at__lt=now).delete()
    second_factor.forget_old_wrong_codes()
