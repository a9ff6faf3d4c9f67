"""A new password by mail, and what ends with the previous one."""

from typing import Final

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.db import transaction
from django.urls import reverse

from accounts.models import Mail, User
from accounts.services import confirmation, outbox
from accounts.services.connections import end_connections
from accounts.services.developer_tokens import end_tokens
from accounts.services.second_factor import require_password_with_passkeys
from accounts.sign_in.limits import UnaskedMail
from common.mails.letters import Letter, letter

RESET: Final = "password-reset"


def mail_reset(*, email: str) -> None:
    """Mail a link that works once. The request looks for no account: the time that this takes would tell whether there is one."""
    outbox.post_later(kind=RESET, to=email, once=True)


@outbox.writes(RESET, limit=UnaskedMail.PASSWORD_RESET)
def _write_reset(mail: Mail) -> Letter | None:
    """None for an unknown address, a closed account and one without a password, and where people have none any more."""
    user = User.objects.with_email(mail.to)
    if user is None or not user.is_active or not user.has_usable_password() or not settings.PASSWORD_SIGN_IN:
        return None
    path = reverse(
        "account_reset_password_from_key",
        kwargs={"uidb36": user_pk_to_url_str(user), "key": default_token_generator.make_token(user)},
    )
    # The link leads to this site, whatever Host the request had.
    return letter(
        subject=f"Choose a new password for {settings.PLATFORM_NAME}",
        to=user.email,
        template="accounts/mail/password_reset.txt",
        context={"base_url": settings.BASE_URL, "link": settings.BASE_URL + path},
    )


def choose_new_password(*, user: User, password: str) -> None:
    """Set a password that was chosen with a mailed link, and end everything that signs in.

    Sessions and sign-ins of the API are bound to the previous password. The rest could have been made by somebody who had
    the account before, so tokens and connections to an identity provider end, and passkeys are a second factor only. The link has
    confirmed the address.
    """
    user.set_password(password)  # slow on purpose, so not while a transaction holds locks
    with transaction.atomic():
        end_tokens(user=user)
        end_connections(user=user)
        user.save(update_fields=["password"])
        require_password_with_passkeys(user=user)
        confirmation.confirm(user=user)
