"""The servers that the platform uses, each by a URL. URLs may hold passwords, so no message shows one."""

from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from common.files import buckets
from common.processes import sentinel
from config.env.reading import checked_url, env, of_extra, required

NO_REDIS = "memory://"
NO_BROKER = "memory://localhost"
PRINTED_MAIL = "consolemail://"
DATABASES = ("postgres", "postgresql", "sqlite")
REDIS = ("redis", "rediss", "sentinel", "memory")
RABBITMQ = ("amqp", "amqps")
S3_KEYS = {"access_key": "AWS_ACCESS_KEY_ID", "secret_key": "AWS_SECRET_ACCESS_KEY"}


def database_url(*, debug: bool, var_dir: Path) -> str:
    to = "postgres://user@host/name, or to sqlite:///path for a file, which serves one process"
    url = required("DATABASE_URL", f"sqlite:///{var_dir / 'extension-platform.sqlite3'}", debug=debug, to=to)
    checked_url("DATABASE_URL", url, schemes=DATABASES, example="postgres://user:password@host:5432/name")
    if not env.db_url_config(url)["NAME"]:
        raise ImproperlyConfigured(
            "DATABASE_URL names no database. It comes behind the host: postgres://user:password@host:5432/name"
        )
    return url


def cache_url(*, debug: bool) -> str:
    """`REDIS_URL`; empty where counters and cache are this process' own, as development has them by default."""
    to = f"redis://host:6379/0, or to {NO_REDIS} to count and cache in each process by itself"
    url = required("REDIS_URL", NO_REDIS, debug=debug, to=to)
    return _redis("REDIS_URL", url, schemes=REDIS).removeprefix(NO_REDIS)


def broker_url(cache: str) -> str:
    """`CELERY_BROKER_URL`, or the cache's server. Without either, the broker is in this process."""
    url = env.str("CELERY_BROKER_URL", default="").strip()
    return _redis("CELERY_BROKER_URL", url, schemes=(*RABBITMQ, *REDIS)) if url else cache or NO_BROKER


def _redis(name: str, url: str, *, schemes: tuple[str, ...]) -> str:
    example = "amqp://user:password@host:5672//" if "amqp" in schemes else "redis://:password@host:6379/0"
    checked_url(name, url, schemes=schemes, example=example)
    if sentinel.is_sentinel(url):
        try:
            sentinel.parse(url)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name} {error}.") from error
    return url


def email_url(*, debug: bool) -> str:
    """`EMAIL_URL`. Printed mails, as development has them, would leave links that change passwords in the log."""
    to = "smtp+tls://user:password@host:587, or to dummymail:// to send no mail"
    url = required("EMAIL_URL", PRINTED_MAIL, debug=debug, to=to)
    if url.startswith(PRINTED_MAIL) and not debug:
        raise ImproperlyConfigured(
            f"EMAIL_URL may print mails with DEBUG only: their links are secrets. Set it to {to}."
        )
    schemes = tuple(env.EMAIL_SCHEMES)
    return checked_url("EMAIL_URL", url, schemes=schemes, example="smtp+tls://user:password@host:587")


def media_storages(*, var_dir: Path) -> dict[str, dict[str, Any]]:
    """Where pictures and the files of exports are: `MEDIA_STORAGE_URL`, or folders under `var_dir`.

    The URL is that of `common.files.buckets`.
    """
    url = of_extra("MEDIA_STORAGE_URL", extra="s3", package="django-storages")
    if not url:
        on_disk = "common.files.disks.DiskStorage"
        return {
            "default": {"BACKEND": on_disk},
            "exports": {
                "BACKEND": on_disk,
                "OPTIONS": {  # Django's storage sets the mode itself, whatever the umask
                    "location": var_dir / "exports",
                    "file_permissions_mode": 0o600,
                    "directory_permissions_mode": 0o700,
                },
            },
        }
    try:
        options = buckets.options_of(url) | bucket_keys()
    except ValueError as error:
        raise ImproperlyConfigured(f"MEDIA_STORAGE_URL {error}.") from error
    return {
        name: {
            "BACKEND": "common.files.object_storage.ObjectStorage",
            "OPTIONS": {**options, "location": f"{options['location']}/{below}".lstrip("/"), **more},
        }
        for name, below, more in (
            ("default", "media", {}),
            ("exports", "exports", {"object_parameters": {"ContentType": "application/gzip"}}),
        )
    }


def bucket_keys() -> dict[str, str]:
    """Options of `common.files.object_storage.ObjectStorage`. Empty: its library finds the keys of the machine's role."""
    return {option: key for option, name in S3_KEYS.items() if (key := env.str(name, default=""))}


def collector_url() -> str:
    """`OTEL_EXPORTER_OTLP_ENDPOINT`; empty if traces go nowhere."""
    name = "OTEL_EXPORTER_OTLP_ENDPOINT"
    return _of_reports(name, extra="otel", package="opentelemetry-sdk", example="http://collector:4318")


def sentry_dsn() -> str:
    """`SENTRY_DSN`; empty if errors go nowhere."""
    return _of_reports(
        "SENTRY_DSN", extra="sentry", package="sentry-sdk", example="https://key@sentry.example/7"
    )


def _of_reports(name: str, *, extra: str, package: str, example: str) -> str:
    url = of_extra(name, extra=extra, package=package)
    return checked_url(name, url, schemes=("https", "http"), example=example) if url else ""
