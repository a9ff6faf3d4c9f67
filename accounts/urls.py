from django.urls import path

from accounts import times
from accounts.access import only_with
from accounts.views import credentials, profile, provider
from accounts.views.credentials import end_sessions, open_sessions, security_log
from accounts.views.profile import account_deleted, deletion
from accounts.views.sign_in import home, send_again
from accounts.views.tickets import ticket

app_name = "accounts"

urlpatterns = [
    path("", home, name="home"),
    path("times/", times.times, name="times"),
    path("tickets/<str:token>/", ticket, name="ticket"),
    *only_with(
        "accounts",
        path("profile/", profile.profile, name="profile"),
        path("profile/name/", profile.change_name, name="change_name"),
        path("profile/email/", profile.ask_for_new_email, name="new_email"),
        path("profile/email/forget/", profile.forget_new_email, name="forget_new_email"),
        path("profile/email/<str:token>/", profile.confirm_new_email, name="confirm_new_email"),
        path("profile/notices/", profile.choose_notices, name="notices"),
        path("profile/delete/", deletion, name="delete"),
        path("deleted/", account_deleted, name="deleted"),
        path("tokens/", credentials.tokens, name="tokens"),
        path("tokens/<str:token_id>/revoke/", credentials.revoke_token, name="revoke_token"),
        path("security-log/", security_log, name="security_log"),
        path("sessions/", open_sessions, name="sessions"),
        path("sessions/end/", end_sessions, name="end_sessions"),
        path("oidc/role/", provider.choose_role, name="provider_role"),
        path("oidc/mail/", provider.ask_for_mail, name="provider_mail"),
        path("oidc/mail/<str:token>/", provider.connect_by_link, name="connect_by_link"),
        path("oidc/connect/", provider.connect, name="connect_provider"),
        path("oidc/disconnect/", provider.disconnect, name="disconnect_provider"),
        path("confirm-email/again/", send_again, name="send_confirmation_again"),
    ),
]
