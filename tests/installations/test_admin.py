"""What the administration shows of installing apps."""

from django.apps import apps
from django.contrib import admin

from developers.review.admin.apps import AppAdmin
from marketplace.models import App


def test_library_shows_apps_alone() -> None:
    assert isinstance(admin.site.get_model_admin(App), AppAdmin)
    library = [*apps.get_app_config("oauth2_provider").get_models(), apps.get_model("installations.Grant")]
    assert [model for model in library if admin.site.is_registered(model)] == []
