"""What the platform talks to: the database and the cache, the broker, storage of files, the mail server."""

from email.utils import formataddr
from typing import Any

from common.processes import sentinel
from config.env.reading import choice, env, made, whole_number
from config.env.servers import broker_url, bucket_keys, cache_url, database_url, email_url, media_storages
from config.schedule import SCHEDULE
from config.settings.start import BASE_DIR, DEBUG, PLATFORM_NAME, PROGRAM, VAR_DIR

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
    made(VAR_DIR)
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
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"]["OPTIONS"] = (
        NOTICE_SILENCE | {"application_name": PROGRAM} | DATABASES["default"].get("OPTIONS", {})
    )
DATABASES["default"]["CONN_MAX_AGE"] = 600  # seconds; SQLite, too, takes milliseconds to read its schema
# A pooler that lends its sessions for single transactions has no place for what a session keeps: a cursor that outlives its
# transaction, a prepared statement (`common.db.compiled`), or the settings of dispatchers, which therefore refuse to start.
DATABASE_POOLER = choice("DATABASE_POOLER", ("", "transaction"))
if DATABASE_POOLER == "transaction":
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = True
elif DATABASES["default"]["ENGINE"] == "common.db.postgresql":
    # A process that hangs inside a transaction would keep every row that is replaced meanwhile, and claims walk past these.
    # JIT compiles plans that look expensive for longer than any of ours takes, more so where partitions are many.
    DATABASES["default"]["OPTIONS"].setdefault(
        "options", "-c idle_in_transaction_session_timeout=2min -c jit=off"
    )
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

if REDIS_URL:
    # A list, since Django would split a text at commas.
    CACHES = {"default": {"BACKEND": "common.processes.redis_client.Cache", "LOCATION": [REDIS_URL]}}
else:
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CACHES["default"]["KEY_PREFIX"] = "extension-platform"


# --- Celery and its broker ---------------------------------------------------------------------------

# Celery messages may be lost: the database has everything that is due (docs/decisions/0004).
CELERY_BROKER_URL = broker_url(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
if CELERY_BROKER_URL.startswith("memory:"):
    # The in-process broker looks once a second by default.
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {"polling_interval": 0.5}
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


# --- Static files, pictures and their storage --------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "common.web.sheets.JoiningFinder",
    "developers.sdks.finder.SdkFinder",
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


# --- Mail --------------------------------------------------------------------------------------------

EMAIL_CONFIG = env.email_url_config(email_url(debug=DEBUG))
vars().update(EMAIL_CONFIG)
EMAIL_SENT_BY = EMAIL_CONFIG["EMAIL_BACKEND"].replace(
    "django.core.mail.backends.smtp.EmailBackend", "common.mails.sending.PatientBackend"
)
EMAIL_BACKEND = "common.mails.sending.CountedBackend"
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default=formataddr((PLATFORM_NAME, "no-reply@localhost")))
# They get mails about crashes and about data erasures that no app confirms.
ADMINS = [(address, address) for address in env.list("ADMINS", default=[])]
SERVER_EMAIL = DEFAULT_FROM_EMAIL
NEW_STORE_MAILS = whole_number("NEW_STORE_MAILS", 100)  # to buyers, of one store on one day
EMAIL_TIMEOUT = 10  # seconds; for the answer to a whole mail see `common.mails.sending`
