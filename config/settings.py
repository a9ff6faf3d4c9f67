"""One settings module, fed by the environment. docs/operations.md describes every variable."""

from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from celery.schedules import crontab
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from config.env import env, field_encryption_keys, flag, metrics_token, seconds, seconds_list, secret_key

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.str("VAR_DIR", default="") or BASE_DIR / "var").resolve()

# --- What kind of start this is ---------------------------------------------------------------------

DEBUG = flag("DEBUG")
SECRET_KEY = secret_key(debug=DEBUG, var_dir=VAR_DIR)
FIELD_ENCRYPTION_KEYS = field_encryption_keys(debug=DEBUG, var_dir=VAR_DIR)

PORT = seconds("PORT", 8000)
BASE_URL = env.str("BASE_URL", default=f"http://127.0.0.1:{PORT}").rstrip("/")
if urlsplit(BASE_URL).scheme not in ("http", "https") or not urlsplit(BASE_URL).hostname:
    raise ImproperlyConfigured(f"BASE_URL must be an http or https URL, not {BASE_URL!r}.")
ALLOWED_HOSTS = env.list(
    "ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"] if DEBUG else [urlsplit(BASE_URL).hostname]
)
CSRF_TRUSTED_ORIGINS = [BASE_URL]

# Lets webhooks and hooks go to the loopback interface. For the demo and tests.
ALLOW_LOCAL_DESTINATIONS = flag("ALLOW_LOCAL_DESTINATIONS")

# What `/metrics` asks for; without it there is no such page.
METRICS_TOKEN = metrics_token(debug=DEBUG)

# --- The parts --------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "config.apps.ConfigConfig",
    "developers.apps.DevelopersConfig",
    "appapi.apps.AppApiConfig",
    "extensions.apps.ExtensionsConfig",
    "webhooks.apps.WebhooksConfig",
    "installations.apps.InstallationsConfig",
    "marketplace.apps.MarketplaceConfig",
    "stores.apps.StoresConfig",
    "accounts.apps.AccountsConfig",
    "common.apps.CommonConfig",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",
    "rest_framework",
    "rest_framework_simplejwt.token_blacklist",
    "oauth2_provider",
]

MIDDLEWARE = [
    "common.metrics.AnswersMiddleware",
    "appapi.middleware.RateHeadersMiddleware",
    "common.middleware.HostMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "common.page_middleware.ContentPolicy",
    "extensions.policy.AppSourcesMiddleware",
    "common.middleware.ApiPathMiddleware",
    "common.page_middleware.Sessions",
    "django.middleware.common.CommonMiddleware",
    "common.middleware.PageMethodMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "common.page_middleware.Authentication",
    "common.page_middleware.Messages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "common.middleware.ErrorMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "common.context_processors.page",
            ],
        },
    },
]
FORM_RENDERER = "common.forms.FormRenderer"

# --- Database, cache, broker ------------------------------------------------------------------------

REDIS_URL = env.str("REDIS_URL", default="")
DATABASE_URL = env.str("DATABASE_URL", default="") or f"sqlite:///{VAR_DIR / 'extension-platform.sqlite3'}"
DATABASES = {"default": env.db_url_config(DATABASE_URL)}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    VAR_DIR.mkdir(parents=True, exist_ok=True)
    # IMMEDIATE takes the write lock when a transaction begins, so that two that read and then write wait
    # for each other; deferred ones fail with "database is locked" and can't be waited for.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    }
    DATABASES["default"]["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}  # a file, since threads share it
else:
    DATABASES["default"]["ENGINE"] = "common.postgresql"
    DATABASES["default"]["CONN_MAX_AGE"] = 600
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("connect_timeout", 5)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

if REDIS_URL:
    CACHES = {"default": {"BACKEND": "common.cache_server.Cache", "LOCATION": REDIS_URL}}
else:
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CACHES["default"]["KEY_PREFIX"] = "extension-platform"

# Celery carries only hints that may be lost: whatever is due stands in the database (docs/decisions/0004).
CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default="") or REDIS_URL or "memory://localhost"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {"polling_interval": 0.02}  # of the in-process broker, which would else look once a second
    if CELERY_BROKER_URL.startswith("memory:")
    else {"socket_timeout": 1, "socket_connect_timeout": 1, "max_retries": 0}
)
CELERY_TASK_PUBLISH_RETRY = False
CELERY_DB_REUSE_MAX = 1000  # else every task opens a database session of its own
CELERY_BEAT_SCHEDULE = {
    "send-due-deliveries": {
        "task": "webhooks.tasks.dispatch",
        "schedule": 1.0,
        "options": {"expires": 2.0},
    },
    "judge-webhooks": {
        "task": "webhooks.tasks.judge_webhooks",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    "follow-erasures": {
        "task": "webhooks.tasks.follow_erasures",
        "schedule": 10.0,
        "options": {"expires": 10.0},
    },
    "tell-merchants": {
        "task": "installations.tasks.tell_merchants",
        "schedule": 30.0,
        "options": {"expires": 30.0},
    },
    "follow-approvals": {
        "task": "installations.tasks.follow_approvals",
        "schedule": 5.0,  # promised within 10 s
        "options": {"expires": 5.0},
    },
    "count-deliveries": {
        "task": "webhooks.tasks.count_deliveries",
        "schedule": crontab(minute=7),
        "options": {"expires": 1800.0},
    },
    "remove-old-deliveries": {
        "task": "webhooks.tasks.remove_old_deliveries",
        "schedule": crontab(minute=37),
        "options": {"expires": 1800.0},
    },
    "remove-old-hook-calls": {
        "task": "extensions.tasks.remove_old_hook_calls",
        "schedule": crontab(minute=47),
        "options": {"expires": 1800.0},
    },
    "expire-payments": {
        "task": "stores.tasks.expire_payments",
        "schedule": 20.0,  # EXPIRED is promised within 60 s
        "options": {"expires": 20.0},
    },
    "recount-totals": {
        "task": "stores.tasks.recount_totals",
        "schedule": crontab(hour=3, minute=17),
        "options": {"expires": 3600.0},
    },
    "remove-ended-sign-ins": {
        "task": "accounts.tasks.remove_ended_sign_ins",
        "schedule": crontab(hour=3, minute=37),
    },
    "remove-old-grants": {
        "task": "installations.tasks.remove_old_grants",
        "schedule": crontab(hour=3, minute=47),
        "options": {"expires": 3600.0},
    },
    "delete-expired-idempotency-keys": {
        "task": "appapi.tasks.delete_expired_idempotency_keys",
        "schedule": 3600.0,
    },
}

# --- People and credentials -------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "accounts:home"
LOGOUT_REDIRECT_URL = "home"
PASSWORD_RESET_TIMEOUT = 3600  # seconds that a mailed link works
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    "common.hashers.RandomSecretHasher",
]
AUTH_RATE_LIMITS = flag("AUTH_RATE_LIMITS", default=True) or not DEBUG
RATELIMIT_FAIL_OPEN = True  # a counter that vanished from the cache locks nobody out
HOME_OF_ROLE = {"DEVELOPER": "portal:app_list", "MERCHANT": "merchant:home", "REVIEWER": "admin:index"}

SIMPLE_JWT = {
    "ACCESS_TOKEN_LIFETIME": timedelta(hours=1),
    "REFRESH_TOKEN_LIFETIME": timedelta(days=30),
    "ROTATE_REFRESH_TOKENS": True,
    "BLACKLIST_AFTER_ROTATION": True,
    "CHECK_REVOKE_TOKEN": True,  # a changed password ends the tokens
}

OAUTH2_PROVIDER_APPLICATION_MODEL = "marketplace.App"
OAUTH2_PROVIDER_GRANT_MODEL = "installations.Grant"
OAUTH2_PROVIDER = {
    "CLIENT_SECRET_HASHER": "pbkdf2_random_secret",
    "CLIENT_SECRET_GENERATOR_CLASS": "marketplace.credentials.ClientSecretGenerator",
    "APPLICATION_ADMIN_CLASS": "developers.admin.apps.AppAdmin",
    "OAUTH2_BACKEND_CLASS": "installations.oauth.Core",
    "OAUTH2_SERVER_CLASS": "installations.oauth.Server",
    "OAUTH2_VALIDATOR_CLASS": "installations.oauth.Validator",
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https", "http"] if DEBUG else ["https"],
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    "PKCE_REQUIRED": False,  # verified when an app sends it; the specification does not ask for it
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_PARSER_CLASSES": ["common.rest.parsers.JsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["common.rest.renderers.JsonRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "common.rest.renderers.AlwaysJson",
    "EXCEPTION_HANDLER": "common.rest.errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "LIST_SERIALIZER_ERRORS_AS_DICT": True,
    "DEFAULT_SCHEMA_CLASS": "config.docs.openapi.OperationSchema",
}
SPECTACULAR_SETTINGS = {
    "OAS_VERSION": "3.1.0",
    "TITLE": "Extension Platform",
    "VERSION": "1.0.0",  # of the wire, not of the software
    "ENFORCE_NON_BLANK_FIELDS": True,
    "POSTPROCESSING_HOOKS": ["config.docs.openapi.complete"],
}

# --- Webhooks ---------------------------------------------------------------------------------------

WEBHOOK_RETRY_DELAYS = seconds_list("WEBHOOK_RETRY_DELAYS", "30,120,480,1920,7200")
DATA_ERASURE_DELAY = seconds("DATA_ERASURE_DELAY", 172_800)

# --- Files ------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_ROOT = VAR_DIR / "media"
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
# A picture may have 2 MiB, and a form carries six of them.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024 + 1

# --- Language, time ---------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

# --- Mail -------------------------------------------------------------------------------------------

EMAIL_CONFIG = env.email("EMAIL_URL", default="consolemail://")
vars().update(EMAIL_CONFIG)
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="Extension Platform <no-reply@localhost>")
# Told of crashes, and of data erasures that no app confirms.
ADMINS = [(address, address) for address in env.list("ADMINS", default=[])]
SERVER_EMAIL = DEFAULT_FROM_EMAIL
EMAIL_TIMEOUT = 10  # seconds

# --- The browser's side of security -----------------------------------------------------------------

SECURE_BY_TLS = BASE_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_BY_TLS
SECURE_SSL_REDIRECT = SECURE_BY_TLS and flag("SECURE_SSL_REDIRECT", default=not DEBUG)
SECURE_HSTS_SECONDS = 31_536_000 if SECURE_BY_TLS and not DEBUG else 0
BEHIND_PROXY = flag("BEHIND_PROXY")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "common.views.csrf_failure"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

SILENCED_SYSTEM_CHECKS = [
    # The in-process cache counts sign-ins in the one process of the demo; a server has Redis, whose
    # increments are atomic (django-ratelimit knows Redis only through another package).
    "django_ratelimit.E003",
    "django_ratelimit.W001",
]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line"},
        "crash_mail": {"class": "common.crashes.CrashMail"},
    },
    "root": {"handlers": ["console", "crash_mail"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {
        "django": {"handlers": [], "level": "INFO"},  # Django's own mails would show settings and headers
        "django.request": {"level": "ERROR"},
        "django.server": {"level": "WARNING"},
        # Its DEBUG lines print the whole context of a page, the secrets that it shows once among it.
        "django.template": {"level": "INFO"},
        "waitress.queue": {"level": "ERROR"},
        "oauthlib": {"level": "WARNING"},  # whose DEBUG lines hold authorization codes
        "oauth2_provider": {"level": "WARNING"},
        "celery": {"level": "WARNING"},
        "kombu": {"level": "WARNING"},
    },
}
