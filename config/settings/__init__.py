"""All settings, read from the environment. docs/operations-settings.md describes every variable."""

from config.env.reading import env, flag, seconds, seconds_list, whole_number
from config.env.servers import collector_url, sentry_dsn
from config.observability.logs import log_settings
from config.settings.browser import *
from config.settings.people import *
from config.settings.servers import *
from config.settings.start import *
from config.settings.start import BASE_DIR, DEBUG, VERSION
from config.settings.zones import *

INSTALLED_APPS = [
    "config.apps.ConfigConfig",
    "developers.review.apps.ReviewConfig",
    "developers.docs.apps.DocsConfig",
    "merchants.apps.MerchantsConfig",
    "storefront.apps.StorefrontConfig",
    "appapi.apps.AppApiConfig",
    "storeapi.apps.StoreApiConfig",
    "activity.apps.ActivityConfig",
    "streams.apps.StreamsConfig",
    "extensions.apps.ExtensionsConfig",
    "webhooks.apps.WebhooksConfig",
    "installations.apps.InstallationsConfig",
    "marketplace.apps.MarketplaceConfig",
    "stores.apps.StoresConfig",
    "accounts.apps.AccountsConfig",
    "common.apps.CommonConfig",
    "teststores.apps.TestStoresConfig",
    "conformance.apps.ConformanceConfig",  # here, so that its receivers run after those of webhooks
    "accounts.admin_site.StaffConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sitemaps",
    "django.contrib.staticfiles",
    "django.forms",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "rest_framework",
    "oauth2_provider",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "common.web.middleware.server_timing.TimedTemplates"
        if DEBUG
        else "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": [
                "common.templatetags.links",
                "common.templatetags.platform",
                "common.templatetags.stamped_forms",
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "common.web.context_processors.page",
                "accounts.context_processors.people",
                "accounts.context_processors.confirmation",
            ],
        },
    },
]
FORM_RENDERER = "common.web.forms.fields.FormRenderer"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_PARSER_CLASSES": ["common.rest.bodies.JsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["common.rest.bodies.JsonRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "common.rest.bodies.AlwaysJson",
    "EXCEPTION_HANDLER": "common.rest.errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "LIST_SERIALIZER_ERRORS_AS_DICT": True,
    "DEFAULT_SCHEMA_CLASS": "common.rest.schema.OperationSchema",
}
SPECTACULAR_SETTINGS = {
    "OAS_VERSION": "3.1.0",
    "VERSION": VERSION,
    "DESCRIPTION": "What an app may call, what the platform sends it, and how a developer registers apps.\n\nIds are "
    "opaque strings and times ISO 8601 in UTC. Every error has the schema `Error`, except those of `/oauth/token`, which "
    "are those of RFC 6749. Unknown query parameters and body fields are ignored, and responses may gain fields. Paths "
    "work with and without a closing slash.",
    "CAMELIZE_NAMES": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SORT_OPERATIONS": False,
    "SORT_OPERATION_PARAMETERS": False,
    "POSTPROCESSING_HOOKS": ["developers.docs.openapi.document.complete"],
}

# --- Webhooks

WEBHOOK_RETRY_DELAYS = seconds_list("WEBHOOK_RETRY_DELAYS", "30,120,480,1920,7200")
DATA_ERASURE_DELAY = seconds("DATA_ERASURE_DELAY", 172_800)
RELEASE_STEP_SECONDS = seconds("RELEASE_STEP_SECONDS", 86_400)
# Add one after restoring an earlier backup of the database: the feed then refuses cursors from before.
FEED_EPOCH = whole_number("FEED_EPOCH", 0)
RECORD_ALL_EVENTS = flag("RECORD_ALL_EVENTS")

# Listed apps are checked each week. A demo shows apps without a server.
WEEKLY_CHECKS = flag("WEEKLY_CHECKS", default=not DEBUG)
# Scripts of apps are fetched each hour.
WATCH_SCRIPTS = flag("WATCH_SCRIPTS", default=True)

# The command `listen` of developers: how many at once, and how many threads of a web process may wait for them.
LISTENERS = whole_number("LISTENERS", 100)
LISTENER_THREADS = whole_number("LISTENER_THREADS", 2)

# --- Language, time

# The platform speaks English. A store speaks one of these to its shoppers (`common.languages`).
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("fr", "Français")]
if DEBUG:
    LANGUAGES.append(("en-XA", "Pseudo-language"))
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

SILENCED_SYSTEM_CHECKS = [
    # The in-process cache counts requests in the one process of the demo; a server has Redis, whose
    # increments are atomic (django-ratelimit knows Redis only through another package).
    "django_ratelimit.E003",
    "django_ratelimit.W001",
    # These checks look for middleware in MIDDLEWARE. tests/config/test_zones.py runs them on the platform's zone.
    "admin.E408",
    "admin.E409",
    "admin.E410",
    "security.W001",
    "security.W002",
    "security.W003",
    # Preloading adds a whole registered domain to browsers for good, so the operator has to ask for it.
    "security.W021",
    # `merchants.consent.views` adds `iss` to every redirect, errors too. The library would add it to some a second time.
    "oauth2_provider.W005",
    # PKCE is optional for apps in the specification.
    "oauth2_provider.W010",
]

# Reports to systems of the operator (`config.observability.otel`, `config.observability.sentry`).
OTLP_ENDPOINT = collector_url()
SENTRY_DSN = sentry_dsn()

LOGGING = log_settings(debug=DEBUG, level=env.str("LOG_LEVEL", default="INFO"))
