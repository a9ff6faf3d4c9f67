"""Mounted at `/developer/`."""

from django.urls import path

from developers.api.views import deliveries, reviews, test_stores, testing
from developers.api.views.apps import AppsView, AppView, ClientSecretView
from developers.api.views.checks import CheckResponsesView, ChecksView, CheckView
from developers.api.views.device import DeviceTokenView, DeviceView
from developers.api.views.listeners import AnswersView, ListenerView, ListenView, WorkView
from developers.api.views.manifests import ManifestView
from developers.api.views.members import MembersView, MemberView, TransferView

app_name = "developer_api"

urlpatterns = [
    path("device", DeviceView.as_view(), name="device"),
    path("device/token", DeviceTokenView.as_view(), name="device_token"),
    path("apps", AppsView.as_view(), name="apps"),
    path("apps/<str:app_id>", AppView.as_view(), name="app"),
    path("apps/<str:app_id>/members", MembersView.as_view(), name="members"),
    path("apps/<str:app_id>/members/<str:member_id>", MemberView.as_view(), name="member"),
    path("apps/<str:app_id>/transfer", TransferView.as_view(), name="transfer"),
    path("apps/<str:app_id>/client-secret", ClientSecretView.as_view(), name="client_secret"),
    path("apps/<str:app_id>/manifest/check", testing.CheckManifestView.as_view(), name="check_manifest"),
    path("apps/<str:app_id>/manifest", ManifestView.as_view(), name="manifest"),
    path("apps/<str:app_id>/submit", reviews.SubmitView.as_view(), name="submit"),
    path("apps/<str:app_id>/readiness", reviews.ReadinessView.as_view(), name="readiness"),
    path("apps/<str:app_id>/submissions", reviews.SubmissionsView.as_view(), name="submissions"),
    path("apps/<str:app_id>/versions", reviews.VersionsView.as_view(), name="versions"),
    path(
        "apps/<str:app_id>/versions/<str:number>/restore",
        reviews.RestoreVersionView.as_view(),
        name="restore_version",
    ),
    path("apps/<str:app_id>/release", reviews.ReleaseView.as_view(), name="release"),
    path("apps/<str:app_id>/release/advance", reviews.AdvanceReleaseView.as_view(), name="advance_release"),
    path("apps/<str:app_id>/release/halt", reviews.HaltReleaseView.as_view(), name="halt_release"),
    path("apps/<str:app_id>/release/resume", reviews.ResumeReleaseView.as_view(), name="resume_release"),
    path("apps/<str:app_id>/release/back", reviews.TakeBackView.as_view(), name="take_back"),
    path("apps/<str:app_id>/withdraw", reviews.WithdrawView.as_view(), name="withdraw"),
    path("apps/<str:app_id>/test-install", testing.TestInstallView.as_view(), name="test_install"),
    path("apps/<str:app_id>/test-status", testing.TestStatusView.as_view(), name="test_status"),
    path("apps/<str:app_id>/test-uninstall", testing.TestUninstallView.as_view(), name="test_uninstall"),
    path("test-changes", testing.TestChangesView.as_view(), name="test_changes"),
    path("apps/<str:app_id>/test-changes", testing.MakeTestChangeView.as_view(), name="make_test_change"),
    path("apps/<str:app_id>/test-stores", test_stores.TestStoresView.as_view(), name="test_stores"),
    path("test-stores/<str:store_id>", test_stores.TestStoreView.as_view(), name="test_store"),
    path("test-stores/<str:store_id>/advance", test_stores.AdvanceView.as_view(), name="test_store_advance"),
    path(
        "test-stores/<str:store_id>/changes",
        test_stores.TestStoreChangesView.as_view(),
        name="test_store_changes",
    ),
    path(
        "test-stores/<str:store_id>/install",
        test_stores.TestStoreInstallView.as_view(),
        name="test_store_install",
    ),
    path(
        "test-stores/<str:store_id>/uninstall",
        test_stores.TestStoreUninstallView.as_view(),
        name="test_store_uninstall",
    ),
    path(
        "test-stores/<str:store_id>/deliveries",
        test_stores.TestStoreDeliveriesView.as_view(),
        name="test_store_deliveries",
    ),
    path(
        "test-stores/<str:store_id>/calls", test_stores.TestStoreCallsView.as_view(), name="test_store_calls"
    ),
    path("apps/<str:app_id>/activity", testing.ActivityView.as_view(), name="activity"),
    path("apps/<str:app_id>/test-events", deliveries.TestEventsView.as_view(), name="test_events"),
    path("apps/<str:app_id>/listener", ListenView.as_view(), name="listen"),
    path("apps/<str:app_id>/listener/<str:listener_id>", ListenerView.as_view(), name="listener"),
    path("apps/<str:app_id>/listener/<str:listener_id>/work", WorkView.as_view(), name="listener_work"),
    path(
        "apps/<str:app_id>/listener/<str:listener_id>/answers",
        AnswersView.as_view(),
        name="listener_answers",
    ),
    path("apps/<str:app_id>/checks", ChecksView.as_view(), name="checks"),
    path("apps/<str:app_id>/checks/<str:check_id>", CheckView.as_view(), name="check"),
    path(
        "apps/<str:app_id>/checks/<str:check_id>/responses",
        CheckResponsesView.as_view(),
        name="check_responses",
    ),
    path("apps/<str:app_id>/analytics", deliveries.AnalyticsView.as_view(), name="analytics"),
    path("apps/<str:app_id>/deliveries", deliveries.DeliveriesView.as_view(), name="deliveries"),
    path(
        "apps/<str:app_id>/deliveries/<str:delivery_id>", deliveries.DeliveryView.as_view(), name="delivery"
    ),
    path(
        "apps/<str:app_id>/deliveries/<str:delivery_id>/redeliver",
        deliveries.RedeliverView.as_view(),
        name="redeliver",
    ),
]
