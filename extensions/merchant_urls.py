"""What extensions add to the merchant's area; mounted at `/merchant/` by `config/urls.py`."""

from django.urls import path

from extensions.views import admin_pages, app_settings, embeds, page_editor

app_name = "extensions"

urlpatterns = [
    path("apps/<str:installation_id>/settings/", app_settings.app_settings, name="settings"),
    path("apps/<str:installation_id>/pages/<str:page_id>/", admin_pages.admin_page, name="admin_page"),
    path("apps/<str:installation_id>/session-token/", admin_pages.new_session_token, name="session_token"),
    path("apps/<str:installation_id>/embeds/", embeds.embeds, name="embeds"),
    path("apps/<str:installation_id>/embeds/<str:embed_id>/", embeds.embed_settings, name="embed_settings"),
    path("apps/<str:installation_id>/blocks/", page_editor.place_block, name="place_block"),
    path("pages/<str:page_id>/edit/", page_editor.editor, name="page_editor"),
    path("pages/<str:page_id>/blocks/", page_editor.add_block, name="add_block"),
    path("pages/<str:page_id>/blocks/<str:placement_id>/", page_editor.save_block, name="save_block"),
    path(
        "pages/<str:page_id>/blocks/<str:placement_id>/preview/",
        page_editor.preview_block,
        name="preview_block",
    ),
    path("pages/<str:page_id>/blocks/<str:placement_id>/move/", page_editor.move_block, name="move_block"),
    path(
        "pages/<str:page_id>/blocks/<str:placement_id>/remove/", page_editor.remove_block, name="remove_block"
    ),
]
