"""What the administration shows of installing apps."""

from django.apps import apps
from django.contrib import admin

from developers.admin.apps import AppAdmin
from marketplace.models import App


def test_library_shows_apps_alone() -> None:
    shown = {model for model in admin.site._registry if issubclass(model, App)}
    assert shown == {App}
    assert isinstance(admin.site._registry[App], AppAdmin)
    hidden = {*apps.get_app_config("oauth2_provider").get_models(), apps.get_model("installations.Grant")}
    assert not hidden & set(admin.site._registry)
