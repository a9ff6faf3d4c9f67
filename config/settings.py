"""All settings, read from the environment. docs/operations.md describes every variable."""

from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from common.processes import sentinel
from config.cores import cores
from config.env.addresses import (
    base_url,
    hosts,
    local_destinations,
    public_link,
    security_txt,
    stores_url,
    trusted_proxies,
)
from config.env.keys import field_encryption_keys, metrics_token, secret_key, secret_key_fallbacks
from config.env.reading import address, at_least, choice, env, flag, seconds, seconds_list, whole_number
from config.env.servers import (
    broker_url,
    bucket_keys,
    cache_url,
    collector_url,
    database_url,
    email_url,
    media_storages,
    replica_url,
    sentry_dsn,
)
from config.observability.logs import log_settings
from config.schedule import SCHEDULE

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.str("VAR_DIR", default="") or BASE_DIR / "var").resolve()

# --- What kind of start this is ---------------------------------------------------------------------

DEBUG = flag("DEBUG")
SECRET_KEY = secret_key(debug=DEBUG, var_dir=VAR_DIR)
SECRET_KEY_FALLBACKS = secret_key_fallbacks()
FIELD_ENCRYPTION_KEYS = field_encryption_keys(debug=DEBUG, var_dir=VAR_DIR)

PORT = seconds("PORT", 8000)
BASE_URL = base_url(PORT)
LOOPBACK = ["127.0.0.1", "localhost", "[::1]"]
STORES_URL = stores_url(base_url=BASE_URL, port=PORT, debug=DEBUG)
STORES_DOMAIN_IS_PUBLIC_SUFFIX = flag("STORES_DOMAIN_IS_PUBLIC_SUFFIX", default=False)
ALLOWED_HOSTS = [*hosts(BASE_URL, STORES_URL), *env.list("ALLOWED_HOSTS", default=LOOPBACK if DEBUG else [])]
CSRF_TRUSTED_ORIGINS = [BASE_URL]

# Links of every page's footer: those that the operator has.
FOOTER_LINKS = [
    (words, link)
    for words, name in (
        ("Contact", "CONTACT_URL"),
        ("Terms", "TERMS_URL"),
        ("Privacy", "PRIVACY_URL"),
        ("Status", "STATUS_URL"),
    )
    if (link := public_link(name))
]

# Lets webhooks and hooks go to the loopback interface. For the demo and tests.
ALLOW_LOCAL_DESTINATIONS = local_destinations(debug=DEBUG)
OUTGOING_USER_AGENT = "Service-Webhooks/1.0"

# Whether calls of apps are logged for their developers (`activity.log`).
LOG_API_CALLS = flag("LOG_API_CALLS", default=True)

# The bearer token for `/metrics`. Without it that page is a 404.
METRICS_TOKEN = metrics_token(debug=DEBUG)

# What `manage.py serve` and `manage.py work` start.
BIND = env.str("BIND", default="") or f"127.0.0.1:{PORT}"
WEB_PROCESSES = at_least(1, "WEB_PROCESSES", cores())
WEB_THREADS = at_least(1, "WEB_THREADS", 8)
WORKER_THREADS = at_least(2, "WORKER_THREADS", 4)  # a dispatcher takes one
HEARTBEAT_FILE = env.str("HEARTBEAT_FILE", default="")
# Where `work`, `schedule` and `deliver` answer `/metrics`; nowhere by default. Web processes do at `BIND`.
METRICS_BIND = address("METRICS_BIND")

# --- The parts --------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "config.apps.ConfigConfig",
    "developers.review.apps.ReviewConfig",
    "developers.docs.apps.DocsConfig",
    "merchants.apps.MerchantsConfig",
    "storefront.apps.StorefrontConfig",
    "appapi.apps.AppApiConfig",
    "activity.apps.ActivityConfig",
    "streams.apps.StreamsConfig",
    "extensions.apps.ExtensionsConfig",
    "webhooks.apps.WebhooksConfig",
    "installations.apps.InstallationsConfig",
    "marketplace.apps.MarketplaceConfig",
    "stores.apps.StoresConfig",
    "accounts.apps.AccountsConfig",
    "common.apps.CommonConfig",
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
    "rest_framework",
    "oauth2_provider",
]

MIDDLEWARE = [
    "common.web.middleware.request_ids.RequestIdMiddleware",
    "common.observability.metrics.AnswersMiddleware",
    "common.strangers.StrangersMiddleware",
    "common.web.middleware.zones.ZoneMiddleware",
    "allauth.account.middleware.AccountMiddleware",  # leads to the page that asks for the password again
]

ZONE_OF = "config.zones.zone_of"
ZONES: dict[str, dict[str, Any]] = {
    "platform": {
        "refuses_nul": True,  # views of APIs do it by themselves, with the path of the field
        "middleware": [
            "django.middleware.security.SecurityMiddleware",
            "common.web.middleware.opener_policy.OpenerPolicyMiddleware",
            "whitenoise.middleware.WhiteNoiseMiddleware",
            "django.middleware.gzip.GZipMiddleware",
            "common.web.middleware.policy.ContentPolicy",
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.common.CommonMiddleware",
            "common.web.middleware.form_bodies.FormBodyMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "accounts.sessions.Authentication",
            "django.contrib.messages.middleware.MessageMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
        ],
    },
    "api": {
        "middleware": [
            "appapi.middleware.CallLogMiddleware",
            "appapi.middleware.RateHeadersMiddleware",
            "django.middleware.security.SecurityMiddleware",
            "common.web.api.ApiMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
        ],
    },
    # Load balancers ask each machine by its address, so nothing here looks at the host.
    "probes": {
        "refuses_nul": True,
        "middleware": [
            "django.middleware.security.SecurityMiddleware",
            "common.web.api.ApiMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
        ],
    },
    "stores": {
        "refuses_nul": True,
        "urlconf": "config.store_urls",
        "middleware": [
            "django.middleware.security.SecurityMiddleware",
            "common.web.middleware.opener_policy.OpenerPolicyMiddleware",
            "whitenoise.middleware.WhiteNoiseMiddleware",
            "django.middleware.gzip.GZipMiddleware",
            "common.web.middleware.policy.ContentPolicy",
            "django.middleware.common.CommonMiddleware",
            "common.web.middleware.same_origin.SameOriginMiddleware",
            "common.web.middleware.form_bodies.FormBodyMiddleware",
            "storefront.middleware.StoreMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
        ],
    },
}

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["common.templatetags.stamped_forms"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "common.web.context_processors.page",
                "accounts.context_processors.confirmation",
            ],
        },
    },
]
FORM_RENDERER = "common.web.forms.widgets.FormRenderer"

# --- Database, cache, broker ------------------------------------------------------------------------

# A machine that dies, or a network that is cut, says nothing. So the system asks on idle connections, and ends one on which
# nothing was acknowledged for eight seconds (`tcp_user_timeout`, in milliseconds).
NOTICE_SILENCE = {
    "connect_timeout": 4,
    "tcp_user_timeout": 8_000,
    "keepalives_idle": 4,
    "keepalives_interval": 2,
    "keepalives_count": 2,
}
REDIS_URL = cache_url(debug=DEBUG)
DATABASE_URL = database_url(debug=DEBUG, var_dir=VAR_DIR)
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
    DATABASES["default"]["ENGINE"] = "common.db.postgresql"
    DATABASES["default"]["CONN_MAX_AGE"] = 600
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"]["OPTIONS"] = NOTICE_SILENCE | DATABASES["default"].get("OPTIONS", {})
# A pooler that lends its sessions for single transactions has no place for what a session keeps: a cursor that outlives its
# transaction, or the settings of dispatchers, which therefore refuse to start.
DATABASE_POOLER = choice("DATABASE_POOLER", ("", "transaction"))
if DATABASE_POOLER == "transaction":
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = True
elif DATABASES["default"]["ENGINE"] == "common.db.postgresql":
    # A process that hangs inside a transaction would keep every row that is replaced meanwhile, and claims walk past these.
    # JIT compiles plans that look expensive for longer than any of ours takes, more so where partitions are many.
    DATABASES["default"]["OPTIONS"].setdefault(
        "options", "-c idle_in_transaction_session_timeout=2min -c jit=off"
    )
if DATABASE_REPLICA_URL := replica_url(DATABASE_URL):
    DATABASES["replica"] = DATABASES["default"] | env.db_url_config(DATABASE_REPLICA_URL)
    DATABASES["replica"] |= {
        "ENGINE": "common.db.postgresql",
        "OPTIONS": DATABASES["replica"]["OPTIONS"] | {"connect_timeout": 1},
        "TEST": {"MIRROR": "default"},
    }
    DATABASE_ROUTERS = ["common.db.replica.Router"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

if REDIS_URL:
    # A list, since Django would split a text at commas.
    CACHES = {"default": {"BACKEND": "common.processes.redis_client.Cache", "LOCATION": [REDIS_URL]}}
else:
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CACHES["default"]["KEY_PREFIX"] = "extension-platform"

# Celery messages may be lost: the database has everything that is due (docs/decisions/0004).
CELERY_BROKER_URL = broker_url(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
if CELERY_BROKER_URL.startswith("memory:"):
    # The in-process broker looks once a second by default.
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {"polling_interval": 0.02}
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 1, "socket_connect_timeout": 1, "max_retries": 0}
if sentinel.is_sentinel(CELERY_BROKER_URL):
    CELERY_BROKER_TRANSPORT_OPTIONS["master_name"] = sentinel.parse(CELERY_BROKER_URL).master
    CELERY_BROKER_URL = sentinel.parse(CELERY_BROKER_URL).broker_url()
    # Before its setting of that name Celery reads the variable, which has a form of our own.
    CELERY_BROKER_READ_URL = CELERY_BROKER_WRITE_URL = CELERY_BROKER_URL
if CELERY_BROKER_URL.startswith(("amqp:", "amqps:")):
    # A quorum queue is on several nodes of RabbitMQ and survives one of them. It is another queue than the classic one of
    # earlier versions, since a queue can't change its kind.
    CELERY_TASK_DEFAULT_QUEUE = "work"
    CELERY_TASK_DEFAULT_QUEUE_TYPE = "quorum"
CELERY_TASK_PUBLISH_RETRY = False
CELERY_DB_REUSE_MAX = (
    1000  # otherwise every task opens a new session; `config.celery` checks those that are kept
)
CELERY_BEAT_SCHEDULE = SCHEDULE

# --- People and credentials -------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "accounts:home"
LOGOUT_REDIRECT_URL = "home"
PASSWORD_RESET_TIMEOUT = 3600  # seconds that a mailed link works
SESSION_ENGINE = "accounts.sessions"
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
# Sign-in pages of django-allauth (docs/decisions/0027). `accounts.sign_in.limits` counts guesses instead of the library, whose
# counters would let strangers lock people out.
ACCOUNT_ADAPTER = "accounts.sign_in.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"  # asked for where it matters, by `accounts.services.confirmation`
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_RATE_LIMITS = False
ACCOUNT_REAUTHENTICATION_TIMEOUT = 900  # seconds after a sign-in or step-up until people are asked again
MFA_ADAPTER = "accounts.sign_in.adapter.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = "Extension Platform"
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = DEBUG
MFA_RATE_LIMITS = False
AUTH_RATE_LIMITS = flag("AUTH_RATE_LIMITS", default=True) or not DEBUG
RATELIMIT_FAIL_OPEN = True  # a counter that vanished from the cache refuses no request
# People confirm their address before they submit an app, open a store or install an app. Not in the demo.
CONFIRM_ADDRESSES = not DEBUG
# Reviewers and superusers need a second factor, and people sign in again before sensitive actions.
SECOND_FACTOR_FOR_STAFF = not DEBUG
STEP_UP = not DEBUG
HOME_OF_ROLE = {"DEVELOPER": "portal:app_list", "MERCHANT": "merchants:home", "REVIEWER": "admin:index"}

OAUTH2_PROVIDER_APPLICATION_MODEL = "marketplace.App"
OAUTH2_PROVIDER_GRANT_MODEL = "installations.Grant"
OAUTH2_PROVIDER = {
    "CLIENT_SECRET_HASHER": "pbkdf2_random_secret",
    "CLIENT_SECRET_GENERATOR_CLASS": "marketplace.credentials.ClientSecretGenerator",
    "APPLICATION_ADMIN_CLASS": "developers.review.admin.apps.AppAdmin",
    "OAUTH2_BACKEND_CLASS": "installations.oauth.Core",
    "OAUTH2_SERVER_CLASS": "installations.oauth.Server",
    "OAUTH2_VALIDATOR_CLASS": "installations.oauth.Validator",
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https", "http"] if DEBUG else ["https"],
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,  # apps get no refresh tokens; the library's check wants it said
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
    "DEFAULT_SCHEMA_CLASS": "common.rest.schema.OperationSchema",
}
SPECTACULAR_SETTINGS = {
    "OAS_VERSION": "3.1.0",
    "TITLE": "Extension Platform",
    "VERSION": "1.0.0",  # of the APIs, not of the software
    "DESCRIPTION": "What an app may call, what the platform sends it, and how a developer registers apps.\n\nIds are "
    "opaque strings and times ISO 8601 in UTC. Every error has the schema `Error`, except those of `/oauth/token`, which "
    "are those of RFC 6749. Unknown query parameters and body fields are ignored, and responses may gain fields. Paths "
    "work with and without a closing slash.",
    "CAMELIZE_NAMES": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SORT_OPERATIONS": False,
    "SORT_OPERATION_PARAMETERS": False,
    "POSTPROCESSING_HOOKS": ["developers.docs.openapi.complete"],
}

# --- Webhooks ---------------------------------------------------------------------------------------

WEBHOOK_RETRY_DELAYS = seconds_list("WEBHOOK_RETRY_DELAYS", "30,120,480,1920,7200")
DATA_ERASURE_DELAY = seconds("DATA_ERASURE_DELAY", 172_800)
# Add one after restoring an earlier backup of the database: the feed then refuses cursors from before.
FEED_EPOCH = whole_number("FEED_EPOCH", 0)
RECORD_ALL_EVENTS = flag("RECORD_ALL_EVENTS")

# The command `listen` of developers: how many at once, and how many threads of a web process may wait for them.
LISTENERS = whole_number("LISTENERS", 100)
LISTENER_THREADS = whole_number("LISTENER_THREADS", 2)

# --- Files ------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "common.web.sheets.SheetFinder",
]
WHITENOISE_ROOT = BASE_DIR / "static" / "root"  # served at "/", such as /favicon.ico
MEDIA_ROOT = VAR_DIR / "media"
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_AUTOREFRESH = DEBUG


def _for_all_hosts(headers: Any, path: str, url: str) -> None:
    headers["Cross-Origin-Resource-Policy"] = "cross-origin"


WHITENOISE_ADD_HEADERS_FUNCTION = _for_all_hosts
BUCKET_KEYS = bucket_keys()
STORAGES = {
    # Neither is served by itself: views check who asks, and set the headers.
    **media_storages(var_dir=VAR_DIR),
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

EMAIL_CONFIG = env.email_url_config(email_url(debug=DEBUG))
vars().update(EMAIL_CONFIG)
EMAIL_SENT_BY = EMAIL_CONFIG["EMAIL_BACKEND"]
EMAIL_BACKEND = "common.mails.CountedBackend"
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="Extension Platform <no-reply@localhost>")
# They get mails about crashes and about data erasures that no app confirms.
ADMINS = [(address, address) for address in env.list("ADMINS", default=[])]
SERVER_EMAIL = DEFAULT_FROM_EMAIL
NEW_STORE_MAILS = whole_number("NEW_STORE_MAILS", 100)  # to buyers, of one store on one day
EMAIL_TIMEOUT = 10  # seconds

# --- The browser's side of security -----------------------------------------------------------------

SECURE_BY_TLS = BASE_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_BY_TLS
# Browsers accept a cookie with this prefix only over TLS, for this host alone and for all of its paths.
_HOST_ONLY = "__Host-" if SECURE_BY_TLS else ""
SESSION_COOKIE_NAME = f"{_HOST_ONLY}sessionid"
CSRF_COOKIE_NAME = f"{_HOST_ONLY}csrftoken"
CART_COOKIE_NAME = f"{_HOST_ONLY}cart"
SECURE_SSL_REDIRECT = SECURE_BY_TLS and flag("SECURE_SSL_REDIRECT", default=not DEBUG)
# Health checks and scrapes come to each machine by itself, not through the proxy with its certificate.
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)/?$"]
SECURE_HSTS_SECONDS = seconds("SECURE_HSTS_SECONDS", 31_536_000) if SECURE_BY_TLS and not DEBUG else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = flag("SECURE_HSTS_INCLUDE_SUBDOMAINS", default=True)
SECURE_HSTS_PRELOAD = flag("SECURE_HSTS_PRELOAD")
TRUSTED_PROXIES = trusted_proxies()
# `common.web.middleware.zones` removes the header from requests of others.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
SECURE_REFERRER_POLICY = "same-origin"
# An app's page may be opened in a frame, and a window from there shows these only without an opener policy (docs/decisions/0070).
OPENED_FROM_FRAMES = (
    "/accounts/login",
    "/accounts/register",
    "/oauth/authorize",
    "/oauth/requests/",
    "/store/",
)
X_FRAME_OPTIONS = "DENY"
# On every answer, unless its view says otherwise: pictures and static files are there for both hosts.
ANSWER_HEADERS = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(
        f"{feature}=()"
        for feature in (
            "accelerometer", "browsing-topics", "camera", "display-capture", "geolocation",
            "gyroscope", "hid", "idle-detection", "local-fonts", "magnetometer", "microphone", "midi",
            "payment", "serial", "usb", "xr-spatial-tracking",
        )
    ),
}  # fmt: skip
SECURITY_TXT = security_txt(BASE_URL, debug=DEBUG)
CSRF_FAILURE_VIEW = "common.web.errors.csrf_failure"
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
