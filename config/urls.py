"""Every address of the site. A route of an API path is written without a closing slash (`ApiPathMiddleware`)."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from config import health, metrics, styleguide, views

urlpatterns = [
    path("", views.home, name="home"),
    path("theme/", views.theme, name="theme"),
    path("licenses/", views.licenses, name="licenses"),
    path("_styleguide/", styleguide.styleguide, name="styleguide"),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", metrics.metrics),
    # One door for all, so that the limits on signing in hold for the administration too.
    path("admin/login/", RedirectView.as_view(pattern_name="accounts:login", query_string=True)),
    path("admin/", admin.site.urls),
    path("accounts/", include("accounts.urls")),
    path("auth/", include("accounts.api.urls")),
    path("docs/", include("config.docs.urls")),
    path("portal/", include("developers.urls")),
    path("merchant/", include("stores.merchant_urls")),
    path("merchant/", include("extensions.merchant_urls")),
    path("merchant/", include("installations.merchant_urls")),
    path("store/<slug:shop_slug>/", include("stores.urls")),
    path("developer/", include("developers.api.urls")),
    path("merchant/apps/<str:installation_id>/checkout/", include("extensions.hooks.urls")),
    path("", include("marketplace.urls")),
    path("", include("installations.urls")),
    path("", include("appapi.urls")),
    re_path("", views.not_found),
]
