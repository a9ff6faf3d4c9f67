from django.apps import apps
from django.conf import settings
from django.conf.urls.static import static
from django.contrib import admin
from django.http import HttpResponse
from django.urls import include, path
from extension_platform_store.django.views import commands

from shop.adapter import open_apps

urlpatterns = [
    path("healthz", lambda request: HttpResponse("ok")),
    path("dashboard/apps/", open_apps, name="apps"),  # the connection's --sign-in, too
    path("platform/commands", commands),  # the connection's --commands
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include(apps.get_app_config("oscar").urls[0])),
    *static(settings.MEDIA_URL, document_root=settings.MEDIA_ROOT),
]
