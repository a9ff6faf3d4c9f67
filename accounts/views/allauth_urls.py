"""The pages of django-allauth that this site has, under the names by which the library looks for them.

People of connected stores, whom their shop signs in, have those of signing in and out alone.
"""

from allauth.account import views
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as webauthn
from django.urls import path, re_path, reverse_lazy

from accounts.access import only_with
from accounts.forms import AddAppForm
from accounts.sign_in.step_up import fresh
from accounts.views import provider, sign_in

urlpatterns = [
    path("login/", sign_in.SignInView.as_view(), name="account_login"),
    path("logout/", views.LogoutView.as_view(http_method_names=["post", "options"]), name="account_logout"),
    path("oidc/login/", provider.sign_in, name="openid_connect_login"),
    path("oidc/login/callback/", provider.callback, name="openid_connect_callback"),
    *only_with(
        "accounts",
        path("register/", sign_in.with_passwords(sign_in.RegisterView.as_view()), name="account_signup"),
        path(
            "password-reset/",
            sign_in.with_passwords(sign_in.PasswordResetView.as_view()),
            name="account_reset_password",
        ),
        path(
            "password-reset/sent/",
            sign_in.with_passwords(
                views.PasswordResetDoneView.as_view(template_name="accounts/password_reset_done.html")
            ),
            name="account_reset_password_done",
        ),
        path(
            "password-reset/complete/",
            sign_in.with_passwords(
                views.PasswordResetFromKeyDoneView.as_view(
                    template_name="accounts/password_reset_complete.html"
                )
            ),
            name="account_reset_password_from_key_done",
        ),
        re_path(
            r"^password-reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
            sign_in.with_passwords(sign_in.PasswordResetFromKeyView.as_view()),
            name="account_reset_password_from_key",
        ),
        path(
            "password/",
            sign_in.for_own_password(sign_in.PasswordChangeView.as_view()),
            name="account_change_password",
        ),
        path(
            "password/set/",
            sign_in.for_own_password(fresh(sign_in.PasswordSetView.as_view())),
            name="account_set_password",
        ),
        path(
            "confirm-email/",
            views.EmailVerificationSentView.as_view(template_name="accounts/confirmation_sent.html"),
            name="account_email_verification_sent",
        ),
        path(
            "confirm-email/<str:key>/",
            views.ConfirmEmailView.as_view(template_name="accounts/confirm_email.html"),
            name="account_confirm_email",
        ),
        path("login/second-step/", sign_in.SecondStepView.as_view(), name="mfa_authenticate"),
        path("login/passkey/", sign_in.PasskeySignInView.as_view(), name="mfa_login_webauthn"),
        path(
            "prove/password/",
            sign_in.for_own_password(sign_in.ProveByPasswordView.as_view()),
            name="account_reauthenticate",
        ),
        path("prove/provider/", provider.prove, name="prove_by_provider"),
        path("prove/code/", sign_in.ProveByCodeView.as_view(), name="mfa_reauthenticate"),
        path("prove/passkey/", sign_in.ProveByPasskeyView.as_view(), name="mfa_reauthenticate_webauthn"),
        path("security/", sign_in.SecurityView.as_view(), name="mfa_index"),
        path(
            "security/app/",
            fresh(
                totp.ActivateTOTPView.as_view(
                    form_class=AddAppForm, template_name="accounts/authenticator_app_add.html"
                )
            ),
            name="mfa_activate_totp",
        ),
        path(
            "security/app/remove/",
            totp.DeactivateTOTPView.as_view(template_name="accounts/authenticator_app_remove.html"),
            name="mfa_deactivate_totp",
        ),
        path("security/passkeys/add/", fresh(sign_in.AddPasskeyView.as_view()), name="mfa_add_webauthn"),
        path(
            "security/passkeys/<int:pk>/remove/",
            webauthn.RemoveWebAuthnView.as_view(
                template_name="accounts/passkey_remove.html", success_url=reverse_lazy("mfa_index")
            ),
            name="mfa_remove_webauthn",
        ),
        path(
            "security/recovery-codes/",
            recovery_codes.ViewRecoveryCodesView.as_view(template_name="accounts/recovery_codes.html"),
            name="mfa_view_recovery_codes",
        ),
        path(
            "security/recovery-codes/new/",
            recovery_codes.GenerateRecoveryCodesView.as_view(
                template_name="accounts/recovery_codes_new.html"
            ),
            name="mfa_generate_recovery_codes",
        ),
    ),
]
