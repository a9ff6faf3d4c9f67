"""Mounted at `/portal/`."""

from django.urls import path

from developers.portal import device
from developers.portal.analytics import views as analytics
from developers.portal.apps import views
from developers.portal.apps import views as apps
from developers.portal.deliveries import arrivals
from developers.portal.deliveries import views as deliveries
from developers.portal.hooks import views as hooks
from developers.portal.manifest import views as manifests
from developers.portal.members import views as members
from developers.portal.release import checks, steps
from developers.portal.release import views as reviews
from developers.portal.requests import views as requests
from developers.portal.sandbox import views as sandbox
from developers.portal.signatures import views as signature_checker
from developers.portal.webhooks import endpoints, inbox
from developers.portal.webhooks import views as webhooks

app_name = "portal"

urlpatterns = [
    path("", apps.app_list, name="app_list"),
    path("device/", device.device, name="device"),
    path("create/", views.app_create, name="app_create"),
    path("apps/<slug:slug>/", apps.app_overview, name="app"),
    path("apps/<slug:slug>/details/", apps.app_edit, name="app_edit"),
    path("apps/<slug:slug>/details/<slug:section>/", apps.app_edit, name="app_edit"),
    path("apps/<slug:slug>/redirect/", views.redirect_result, name="redirect_result"),
    path("apps/<slug:slug>/credentials/", apps.credentials, name="credentials"),
    path("apps/<slug:slug>/credentials/regenerate/", apps.client_secret, name="client_secret"),
    path("apps/<slug:slug>/manifest/", manifests.manifest, name="manifest"),
    path("apps/<slug:slug>/manifest/check/", manifests.manifest_check, name="manifest_check"),
    path("apps/<slug:slug>/manifest/download/", manifests.manifest_download, name="manifest_download"),
    path("apps/<slug:slug>/manifest/history/", manifests.manifest_history, name="manifest_history"),
    path(
        "apps/<slug:slug>/manifest/history/<str:save_id>/",
        manifests.manifest_restore,
        name="manifest_restore",
    ),
    path("apps/<slug:slug>/scripts/", manifests.scripts, name="scripts"),
    path("apps/<slug:slug>/test/", sandbox.test_install, name="test_install"),
    path("apps/<slug:slug>/test/uninstall/", sandbox.test_uninstall, name="test_uninstall"),
    path("apps/<slug:slug>/test/change/", sandbox.test_change, name="test_change"),
    path("apps/<slug:slug>/test/effects/", sandbox.test_effects, name="test_effects"),
    path("apps/<slug:slug>/test/erase/", sandbox.erase_now, name="erase_now"),
    path("apps/<slug:slug>/inbox/", inbox.inbox_page, name="inbox"),
    path("apps/<slug:slug>/inbox/entries/", inbox.inbox_entries, name="inbox_entries"),
    path("apps/<slug:slug>/test/event/", sandbox.test_event, name="test_event"),
    path("apps/<slug:slug>/webhooks/", webhooks.webhook_list, name="webhooks"),
    path("apps/<slug:slug>/webhooks/new/", endpoints.webhook_add, name="webhook_add"),
    path("apps/<slug:slug>/webhooks/<str:webhook_id>/edit/", endpoints.webhook_edit, name="webhook_edit"),
    path(
        "apps/<slug:slug>/webhooks/<str:webhook_id>/delete/", endpoints.webhook_delete, name="webhook_delete"
    ),
    path("apps/<slug:slug>/webhooks/<str:webhook_id>/test/", webhooks.webhook_test, name="webhook_test"),
    path("apps/<slug:slug>/webhooks/<str:webhook_id>/pause/", webhooks.webhook_pause, name="webhook_pause"),
    path(
        "apps/<slug:slug>/webhooks/<str:webhook_id>/resume/", webhooks.webhook_resume, name="webhook_resume"
    ),
    path("apps/<slug:slug>/logs/", requests.log_list, name="logs"),
    path("apps/<slug:slug>/logs/new/", requests.log_news, name="log_news"),
    path("apps/<slug:slug>/requests/", requests.request_list, name="requests"),
    path("apps/<slug:slug>/requests/new/", requests.request_news, name="request_news"),
    path("apps/<slug:slug>/requests/<str:call_id>/", requests.request_page, name="request"),
    path("apps/<slug:slug>/threads/<str:thread_id>/", requests.thread, name="thread"),
    path("apps/<slug:slug>/scopes/", requests.scopes, name="scopes"),
    path("apps/<slug:slug>/deliveries/", deliveries.delivery_list, name="deliveries"),
    path("apps/<slug:slug>/deliveries/new/", deliveries.delivery_news, name="delivery_news"),
    path("apps/<slug:slug>/deliveries/resend/", deliveries.deliveries_resend, name="deliveries_resend"),
    path("apps/<slug:slug>/deliveries/resend-group/", deliveries.group_resend, name="group_resend"),
    path("apps/<slug:slug>/deliveries/why/", arrivals.why, name="why"),
    path("apps/<slug:slug>/deliveries/recover/", deliveries.recover_failed, name="recover"),
    path("apps/<slug:slug>/deliveries/<str:delivery_id>/", deliveries.delivery, name="delivery"),
    path(
        "apps/<slug:slug>/deliveries/<str:delivery_id>/compare/",
        deliveries.delivery_compare,
        name="delivery_compare",
    ),
    path(
        "apps/<slug:slug>/deliveries/<str:delivery_id>/resend/",
        deliveries.delivery_resend,
        name="delivery_resend",
    ),
    path("apps/<slug:slug>/hooks/", hooks.hook_list, name="hooks"),
    path("apps/<slug:slug>/hooks/<str:point>/", hooks.hook_page, name="hook"),
    path("apps/<slug:slug>/hooks/<str:point>/try/", hooks.hook_try, name="hook_try"),
    path("apps/<slug:slug>/hooks/<str:point>/calls/<str:call_id>/", hooks.hook_call, name="hook_call"),
    path(
        "apps/<slug:slug>/hooks/<str:point>/reset/<str:installation_id>/", hooks.hook_reset, name="hook_reset"
    ),
    path("apps/<slug:slug>/erasures/", webhooks.erasure_list, name="erasures"),
    path("apps/<slug:slug>/analytics/", analytics.analytics_page, name="analytics"),
    path("apps/<slug:slug>/analytics/days.csv", analytics.analytics_csv, name="analytics_csv"),
    path("apps/<slug:slug>/checks/", checks.check_list, name="checks"),
    path("apps/<slug:slug>/checks/<str:run_id>/", checks.check, name="check"),
    path("apps/<slug:slug>/signatures/", signature_checker.signature_checker, name="signature_checker"),
    path("apps/<slug:slug>/review/", reviews.review, name="review"),
    path("apps/<slug:slug>/review/submit/", reviews.submit, name="submit"),
    path("apps/<slug:slug>/review/messages/", reviews.send, name="review_message"),
    path("apps/<slug:slug>/review/withdraw/", reviews.withdraw, name="withdraw"),
    path("apps/<slug:slug>/release/", steps.release, name="release"),
    path("apps/<slug:slug>/release/move/", steps.move, name="release_move"),
    path("apps/<slug:slug>/release/take-back/", steps.take_back, name="take_back"),
    path("apps/<slug:slug>/versions/", reviews.version_list, name="versions"),
    path("apps/<slug:slug>/versions/<int:number>/restore/", reviews.version_restore, name="version_restore"),
    path("apps/<slug:slug>/members/", members.member_list, name="members"),
    path("apps/<slug:slug>/members/<str:member_id>/role/", members.member_role, name="member_role"),
    path("apps/<slug:slug>/members/<str:member_id>/remove/", members.member_remove, name="member_remove"),
    path("apps/<slug:slug>/members/keep-secret/", members.secret_kept, name="secret_kept"),
    path("apps/<slug:slug>/transfer/", members.transfer, name="transfer"),
    path("apps/<slug:slug>/transfer/withdraw/", members.transfer_withdraw, name="transfer_withdraw"),
    path("apps/<slug:slug>/transfer/accept/", members.transfer_accept, name="transfer_accept"),
    path("invitations/<str:token>/", members.invitation, name="invitation"),
    path("invitations/<str:token>/register/", members.invitation_register, name="invitation_register"),
    path("apps/<slug:slug>/delete/", apps.app_delete, name="app_delete"),
]
