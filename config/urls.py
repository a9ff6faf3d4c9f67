"""The URLs of the platform's host. Routes of APIs have no trailing slash (`common.web.api`)."""

from django.contrib import admin
from django.contrib.sitemaps.views import sitemap
from django.urls import include, path, re_path

from accounts.views.sign_in import StaffSignInView
from common.web.methods import require_safe
from config import health
from config.pages import mails, styleguide, views
from developers.docs import views as pages
from developers.portal.webhooks import inbox
from merchants.marketplace import views as marketplace

urlpatterns = [
    # First, because it is called most, and each pattern before it takes time.
    path("", include("appapi.urls")),
    path("", include("storeapi.urls")),
    path("", include("storeapi.page_urls")),
    path("", marketplace.home, name="home"),
    path("theme/", views.theme, name="theme"),
    path("media/platform/<str:name>", views.brand_part, name="brand_part"),
    path("licenses/", views.licenses, name="licenses"),
    path("search/", views.search_page, name="search"),
    path("_styleguide/", styleguide.styleguide, name="styleguide"),
    path("_mails/", mails.mails, name="mails"),
    path("_demo/no-server/", views.no_server, name="no_server"),
    path("healthz", health.healthz),
    path(".well-known/security.txt", views.security_txt),
    path("robots.txt", views.robots_txt),
    path("llms.txt", pages.llms, name="llms"),
    path("llms-full.txt", pages.llms_full, name="llms_full"),
    path("sitemap.xml", require_safe(sitemap), {"sitemaps": views.SITEMAPS}),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    # One sign-in page for everyone, so that its rate limits apply to the admin, too. Without passwords, staff have one here.
    path("admin/login/", StaffSignInView.as_view()),
    path("admin/", admin.site.urls),
    path("accounts/", include("accounts.urls")),
    path("accounts/", include("accounts.views.allauth_urls")),
    path("auth/", include("accounts.api.urls")),
    path("docs/", include("developers.docs.urls")),
    path("sdk/", include("developers.sdks.urls")),
    path("portal/", include("developers.portal.urls")),
    path("inbox/<str:key>", inbox.receive, name="inbox_receiver"),
    re_path(r"^store/(?P<slug>[-a-zA-Z0-9_]+)(?:/.*)?$", views.to_store),
    path("developer/", include("developers.api.urls")),
    path("", include("merchants.urls")),
    path("", include("installations.urls")),
    re_path("", views.not_found),
]
