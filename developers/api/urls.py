"""Mounted at `/developer/`."""

from django.urls import path

from developers.api.views.apps import AppsView, AppView, ClientSecretView
from developers.api.views.deliveries import (
    AnalyticsView,
    DeliveriesView,
    DeliveryView,
    RedeliverView,
    TestEventsView,
)
from developers.api.views.device import DeviceTokenView, DeviceView
from developers.api.views.manifests import ManifestView
from developers.api.views.reviews import (
    RestoreVersionView,
    SubmissionsView,
    SubmitView,
    VersionsView,
    WithdrawView,
)
from developers.api.views.test_installs import TestInstallView, TestStatusView, TestUninstallView

app_name = "developer_api"

urlpatterns = [
    path("device", DeviceView.as_view(), name="device"),
    path("device/token", DeviceTokenView.as_view(), name="device_token"),
    path("apps", AppsView.as_view(), name="apps"),
    path("apps/<str:app_id>", AppView.as_view(), name="app"),
    path("apps/<str:app_id>/client-secret", ClientSecretView.as_view(), name="client_secret"),
    path("apps/<str:app_id>/manifest", ManifestView.as_view(), name="manifest"),
    path("apps/<str:app_id>/submit", SubmitView.as_view(), name="submit"),
    path("apps/<str:app_id>/submissions", SubmissionsView.as_view(), name="submissions"),
    path("apps/<str:app_id>/versions", VersionsView.as_view(), name="versions"),
    path(
        "apps/<str:app_id>/versions/<str:number>/restore",
        RestoreVersionView.as_view(),
        name="restore_version",
    ),
    path("apps/<str:app_id>/withdraw", WithdrawView.as_view(), name="withdraw"),
    path("apps/<str:app_id>/test-install", TestInstallView.as_view(), name="test_install"),
    path("apps/<str:app_id>/test-status", TestStatusView.as_view(), name="test_status"),
    path("apps/<str:app_id>/test-uninstall", TestUninstallView.as_view(), name="test_uninstall"),
    path("apps/<str:app_id>/test-events", TestEventsView.as_view(), name="test_events"),
    path("apps/<str:app_id>/analytics", AnalyticsView.as_view(), name="analytics"),
    path("apps/<str:app_id>/deliveries", DeliveriesView.as_view(), name="deliveries"),
    path("apps/<str:app_id>/deliveries/<str:delivery_id>", DeliveryView.as_view(), name="delivery"),
    path(
        "apps/<str:app_id>/deliveries/<str:delivery_id>/redeliver", RedeliverView.as_view(), name="redeliver"
    ),
]
