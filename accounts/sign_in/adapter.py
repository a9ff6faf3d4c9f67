"""What django-allauth asks about this site: where to lead people, what to tell them, and how to send mail."""

from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import segno
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from accounts.models import User
from accounts.services import confirmation
from accounts.services.outbox import mail_security_change
from accounts.sign_in import limits
from accounts.sign_in.provider import label, passwords_for
from accounts.sign_in.step_up import proved_recently
from common.db.fields import decrypt, encrypt
from common.web.client_address import client_address
from common.web.requests import is_own_page

WRONG_CREDENTIALS = "Wrong e-mail address or password."

WRONG_PASSKEY = "This passkey can't be used here. Sign in another way."
WRONG_CODE = "This code is wrong, or was used already. Enter the newest one."

# Sentences for the library's events. Events that aren't here are shown by the page itself.
MESSAGES = {
    "password_changed": "Your new password is saved. All your other sessions are signed out.",
    "password_set": "Your password is saved.",
    "totp_activated": "Your authenticator app is set up.",
    "totp_deactivated": "Your authenticator app is removed.",
    "webauthn_added": "Your passkey is saved.",
    "webauthn_removed": "The passkey is removed.",
}

# What the mail about a change of the account's security says.
CHANGES = {
    "password_changed": "The password was changed.",
    "password_set": "A password was set.",
    "password_reset": "The password was reset with a link from an e-mail. Your sessions and developer tokens have ended, and "
    "passkeys work after the new password only.",
    "totp_activated": "An authenticator app was set up.",
    "totp_deactivated": "The authenticator app was removed.",
    "webauthn_added": "A passkey was added.",
    "webauthn_removed": "A passkey was removed.",
    "recovery_codes_generated": "New recovery codes were made. The old ones no longer work.",
}


class AccountAdapter(DefaultAccountAdapter):
    error_messages = DefaultAccountAdapter.error_messages | {
        "email_password_mismatch": WRONG_CREDENTIALS,
        "enter_current_password": "Wrong password.",
        "incorrect_password": "Wrong password.",
    }

    def is_safe_url(self, url: str) -> bool:
        """Whether `next` leads to the platform's own host. The library would allow every host of `ALLOWED_HOSTS`, the
        stores' too."""
        return is_own_page(url, self.request)

    def is_ajax(self, request: HttpRequest) -> bool:
        """Forms are answered with pages, also when JSON is preferred. Scripts ask for one thing, how to use a passkey."""
        return request.method == "GET" and request.path == reverse("mfa_login_webauthn")

    def reauthenticate(self, user: User, password: str) -> bool:
        """Check the password of a signed-in person. Raises `TooManyRequests`."""
        limits.sign_in_to_account(self.request, user.email)
        is_right = user.check_password(password)
        if is_right:
            limits.signed_in(self.request, user.email)
        return is_right

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Confirm the address that the link was mailed to, if it is still the account's. The library would make it the
        account's address again."""
        if email_address.email != email_address.user.email:
            messages.error(request, "This link is for an address that your account no longer has.")
            return False
        confirmation.confirm(user=email_address.user)
        messages.success(request, "Your e-mail address is confirmed.")
        return True

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        """Show our own sentence for an event of the library, if there is one."""
        text = message or MESSAGES.get(_event(message_template or ""))
        if text:
            messages.add_message(request, level, text, extra_tags=extra_tags)

    def send_notification_mail(
        self,
        template_prefix: str,
        user: User,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        """Mail the person what has changed in the account's security."""
        change = CHANGES[_event(template_prefix)]
        mail_security_change(user=user, change=change, address=client_address(self.request))

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Whether a page that needs a fresh proof asks for it. A recent sign-in is one, unlike in the library."""
        return not proved_recently(self.request)

    def get_reauthentication_methods(self, user: User) -> list[dict[str, str]]:
        """Ways to prove again who one is. People with a second factor use that, and not the password. Those with neither use the
        operator's identity provider."""
        methods: list[dict[str, str]] = super().get_reauthentication_methods(user)
        second = [method for method in methods if method["id"] != "reauthenticate"]
        if second or not user.is_authenticated or (methods and passwords_for(user)):
            return second or methods
        by_provider = {
            "id": "provider",
            "description": f"Use {label()}",
            "url": reverse("prove_by_provider"),
        }
        return [by_provider] if settings.IDENTITY_PROVIDER else []

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("mfa_index")

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """A closed account with a passkey is answered like an unknown one."""
        messages.error(request, WRONG_PASSKEY)
        return redirect("account_login")


class SecondFactorAdapter(DefaultMFAAdapter):
    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": WRONG_CODE,
        "unverified_email": "Confirm your e-mail address first. Then you can protect your account with a second factor.",
    }

    def encrypt(self, text: str) -> str:
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt(encrypted_text)

    def build_totp_svg(self, url: str) -> str:
        drawn: str = segno.make_qr(url).svg_inline(scale=5, light="#fff")
        return drawn.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Passkeys belong to the platform's domain."""
        return {"id": passkey_domain() or "", "name": settings.PLATFORM_NAME}

    def generate_authenticator_name(self, user: User, type: str) -> str:  # noqa: A002  the library's name
        return f"Passkey {Authenticator.objects.filter(user=user, type=type).count() + 1}"


def passkey_domain() -> str | None:
    """The domain that passkeys are for. None where the platform is at an IP address: passkeys need a name."""
    host = urlsplit(settings.BASE_URL).hostname or ""
    try:
        ip_address(host)
    except ValueError:
        return host
    return None


def _event(template: str) -> str:
    """`password_changed` for `account/messages/password_changed.txt`."""
    return template.rpartition("/")[2].removesuffix(".txt")
