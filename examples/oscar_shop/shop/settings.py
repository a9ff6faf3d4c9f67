"""A shop with django-oscar as it comes, on SQLite, and what it needs to be connected to the platform."""

import json
import os
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from oscar.defaults import *  # noqa: F403 - as Oscar's guide has it

BASE_DIR = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("OSCAR_FOLDER", BASE_DIR.parents[1] / "build" / "oscar")).resolve()
SHOP_URL = os.environ.get("OSCAR_URL", "http://localhost:8010")

DEBUG = True
SECRET_KEY = "of an example"  # noqa: S105 - of no real shop
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
ROOT_URLCONF = "shop.urls"
WSGI_APPLICATION = "shop.wsgi.application"
SITE_ID = 1
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE, LANGUAGES = "en-us", [("en-us", "English")]
STATIC_URL = "/static/"
MEDIA_URL = "/media/"
MEDIA_ROOT = FOLDER / "media"
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
# Other shops and the platform may be on the same host, whose cookies all ports share.
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "oscar_session", "oscar_csrf"
AUTHENTICATION_BACKENDS = [
    "oscar.apps.customer.auth_backends.EmailBackend",
    "django.contrib.auth.backends.ModelBackend",
]

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": FOLDER / "shop.sqlite3",
        "ATOMIC_REQUESTS": False,  # a request waits for apps, which no transaction may do
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }
}

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.sites",
    "django.contrib.flatpages",
    "shop.apps.ShopConfig",
    "extension_platform_store.django",
    "oscar.config.Shop",
    "oscar.apps.analytics.apps.AnalyticsConfig",
    "shop.checkout.apps.CheckoutConfig",
    "oscar.apps.address.apps.AddressConfig",
    "shop.shipping.apps.ShippingConfig",
    "oscar.apps.catalogue.apps.CatalogueConfig",
    "oscar.apps.catalogue.reviews.apps.CatalogueReviewsConfig",
    "oscar.apps.communication.apps.CommunicationConfig",
    "oscar.apps.partner.apps.PartnerConfig",
    "oscar.apps.basket.apps.BasketConfig",
    "oscar.apps.payment.apps.PaymentConfig",
    "shop.offer.apps.OfferConfig",
    "oscar.apps.order.apps.OrderConfig",
    "oscar.apps.customer.apps.CustomerConfig",
    "oscar.apps.search.apps.SearchConfig",
    "oscar.apps.voucher.apps.VoucherConfig",
    "oscar.apps.wishlists.apps.WishlistsConfig",
    "oscar.apps.dashboard.apps.DashboardConfig",
    "oscar.apps.dashboard.reports.apps.ReportsDashboardConfig",
    "oscar.apps.dashboard.users.apps.UsersDashboardConfig",
    "oscar.apps.dashboard.orders.apps.OrdersDashboardConfig",
    "oscar.apps.dashboard.catalogue.apps.CatalogueDashboardConfig",
    "oscar.apps.dashboard.offers.apps.OffersDashboardConfig",
    "oscar.apps.dashboard.partners.apps.PartnersDashboardConfig",
    "oscar.apps.dashboard.pages.apps.PagesDashboardConfig",
    "oscar.apps.dashboard.ranges.apps.RangesDashboardConfig",
    "oscar.apps.dashboard.reviews.apps.ReviewsDashboardConfig",
    "oscar.apps.dashboard.vouchers.apps.VouchersDashboardConfig",
    "oscar.apps.dashboard.communications.apps.CommunicationsDashboardConfig",
    "oscar.apps.dashboard.shipping.apps.ShippingDashboardConfig",
    "widget_tweaks",
    "haystack",
    "treebeard",
    "sorl.thumbnail",
    "django_tables2",
]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
# This shop has no history: its tables are made at once, in 5 s instead of a minute. A shop of yours leaves out these lines, and names
# `oscar.apps.NAME.migrations` here for the apps that it extends.
MIGRATION_MODULES = {
    re.sub(r"\.apps\.\w+Config$", "", app).rpartition(".")[2]: None for app in INSTALLED_APPS
}

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "extension_platform_store.django.middleware.content_security_policy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "shop" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.debug",
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.template.context_processors.i18n",
                "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form",
                "oscar.apps.checkout.context_processors.checkout",
                "oscar.apps.communication.notifications.context_processors.notifications",
                "oscar.core.context_processors.metadata",
            ]
        },
    }
]
HAYSTACK_CONNECTIONS = {
    "default": {"ENGINE": "haystack.backends.whoosh_backend.WhooshEngine", "PATH": FOLDER / "search"}
}

OSCAR_SHOP_NAME = "Harbor Goods"
OSCAR_SHOP_TAGLINE = "django-oscar, connected"
OSCAR_DEFAULT_CURRENCY = "USD"
OSCAR_OFFERS_INCL_TAX = True  # as apps take off of what the customer pays
OSCAR_ALLOW_ANON_CHECKOUT = True
OSCAR_INITIAL_ORDER_STATUS = OSCAR_INITIAL_LINE_STATUS = "Pending"
OSCAR_ORDER_STATUS_PIPELINE = {
    "Pending": ("Being processed", "Cancelled"),
    "Being processed": ("Complete", "Cancelled"),
    "Complete": (),
    "Cancelled": (),
}
OSCAR_LINE_STATUS_PIPELINE = OSCAR_ORDER_STATUS_PIPELINE
OSCAR_ORDER_STATUS_CASCADE = {name: name for name in OSCAR_ORDER_STATUS_PIPELINE}
OSCAR_DASHBOARD_NAVIGATION = [  # the standard one, and Apps
    *OSCAR_DASHBOARD_NAVIGATION,  # noqa: F405
    {
        "label": "Apps",
        "icon": "fas fa-puzzle-piece",
        "url_name": "apps",
        "access_fn": lambda user, *_, **__: user.is_staff,
    },
]

# The scripts that Oscar's pages have in attributes, by their hashes.
IN_ATTRIBUTES = ("window.location.href='/basket/';", "window.print()")


def source_of(script: str) -> str:
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


# What `manage.py connect_shop` of the platform printed, as a file that only the shop may read.
CONNECTION = FOLDER / "connection.json"
EXTENSION_PLATFORM = {
    "URL": os.environ.get("PLATFORM_URL", "http://127.0.0.1:8000"),
    "KEY": "not-connected",
    "SECRET": "not-connected",
    "STORE": "main",
    "RECORD": {"name": OSCAR_SHOP_NAME, "currency": OSCAR_DEFAULT_CURRENCY, "storefrontUrl": SHOP_URL},
    "SHOP": "shop.adapter.OscarShop",
    "HANDLERS": "shop.adapter.HANDLERS",
    "WITHOUT_POLICY": ["/dashboard/", "/admin/"],  # without apps
    "SCRIPT_SOURCES": ["'unsafe-hashes'", *map(source_of, IN_ATTRIBUTES)],
    "BUDGET_MS": int(os.environ.get("OSCAR_BUDGET_MS", "2000")),
}
if CONNECTION.exists():
    _made = json.loads(CONNECTION.read_text())
    EXTENSION_PLATFORM |= {"KEY": _made["key"], "SECRET": _made["secret"]}
