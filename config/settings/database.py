"""The database and the cache."""

from config.env.reading import choice, env, made
from config.env.servers import cache_url, database_url
from config.settings.start import DEBUG, VAR_DIR

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
    DATABASES["default"]["OPTIONS"] = NOTICE_SILENCE | DATABASES["default"].get("OPTIONS", {})
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
