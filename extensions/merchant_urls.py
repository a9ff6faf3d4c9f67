"""What extensions add to the merchant's area; mounted at `/merchant/` by `config/urls.py`."""

from django.urls import path

from extensions.views import admin_pages, app_settings, embeds

app_name = "extensions"

urlpatterns = [
    path("apps/<str:installation_id>/settings/", app_settings.app_settings, name="settings"),
    path("apps/<str:installation_id>/pages/<str:page_id>/", admin_pages.admin_page, name="admin_page"),
    path("apps/<str:installation_id>/session-token/", admin_pages.new_session_token, name="session_token"),
    path("apps/<str:installation_id>/embeds/", embeds.embeds, name="embeds"),
]
