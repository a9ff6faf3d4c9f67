"""Mounted at `/portal/`."""

from django.urls import path

from developers.views import apps, credentials, test_installs

app_name = "portal"

urlpatterns = [
    path("", apps.app_list, name="app_list"),
    path("create/", apps.app_create, name="app_create"),
    path("apps/<slug:slug>/", apps.app_overview, name="app"),
    path("apps/<slug:slug>/details/", apps.app_edit, name="app_edit"),
    path("apps/<slug:slug>/credentials/", credentials.credentials, name="credentials"),
    path("apps/<slug:slug>/credentials/regenerate/", credentials.client_secret, name="client_secret"),
    path("apps/<slug:slug>/test/", test_installs.test_install, name="test_install"),
    path("apps/<slug:slug>/test/uninstall/", test_installs.test_uninstall, name="test_uninstall"),
    path("apps/<slug:slug>/delete/", apps.app_delete, name="app_delete"),
]
