"""Read the environment. An invalid value stops the start with a message that names its variable."""

import base64
import json
import os
import re
import secrets
from datetime import UTC, date, datetime, time, timedelta
from importlib.metadata import PackageNotFoundError, version
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import environ
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

from common import sentinel

env = environ.Env()

MIN_SECRET_LENGTH = 32
NO_REDIS = "memory://"
PRINTED_MAIL = "consolemail://"
PUBLIC_LINK_SHAPE = re.compile(r"(mailto:[^\s@]+@[^\s@]+|https://\S+)")
SECURITY_URI_SHAPE = re.compile(r"(mailto:[^\s@]+@[^\s@]+|https://\S+|tel:\+?[0-9-]+)")
BUCKET_SHAPE = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
STORES_URL_SHAPE = re.compile(r"https?://(\{slug\}\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:\d+)?")


def flag(name: str, *, default: bool = False) -> bool:
    """`1/0`, `true/false`, `yes/no`, `on/off`; anything else stops the start."""
    text = env.str(name, default="").strip().lower()
    if text in ("", None):
        return default
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off"):
        return False
    raise ImproperlyConfigured(f"{name} must be 1 or 0, not {text!r}.")


def seconds_list(name: str, default: str) -> tuple[int, ...]:
    """Comma-separated whole seconds, each at least 0."""
    text = env.str(name, default="").strip() or default
    try:
        delays = tuple(int(part) for part in text.split(","))
    except ValueError:
        delays = ()
    if not delays or min(delays) < 0:
        raise ImproperlyConfigured(f"{name} must be whole seconds separated by commas, not {text!r}.")
    return delays


def seconds(name: str, default: int) -> int:
    return whole_number(name, default, of=" of seconds")


def whole_number(name: str, default: int, *, of: str = "") -> int:
    text = env.str(name, default="").strip() or str(default)
    if not text.isdigit():
        raise ImproperlyConfigured(f"{name} must be a whole number{of}, not {text!r}.")
    return int(text)


def choice(name: str, choices: tuple[str, ...]) -> str:
    """One of the words; the first is the default."""
    text: str = env.str(name, default="").strip() or choices[0]
    if text not in choices:
        raise ImproperlyConfigured(f"{name} must be {' or '.join(filter(None, choices))}, not {text!r}.")
    return text


def at_least(minimum: int, name: str, default: int) -> int:
    number = whole_number(name, default)
    if number < minimum:
        raise ImproperlyConfigured(f"{name} must be at least {minimum}, not {number}.")
    return number


def required(name: str, default: str, *, debug: bool, to: str) -> str:
    """A variable without which only development starts, with this default. `to` says what to set it to."""
    text: str = env.str(name, default="").strip()
    if not text and not debug:
        raise ImproperlyConfigured(f"{name} is missing: without DEBUG it must be set, to {to}.")
    return text or default


def replica_url(database_url: str) -> str:
    """`DATABASE_REPLICA_URL`, empty if there is none. Only PostgreSQL has replicas."""
    url = env.str("DATABASE_REPLICA_URL", default="").strip()
    if url and not all(each.startswith(("postgres://", "postgresql://")) for each in (url, database_url)):
        raise ImproperlyConfigured(
            "DATABASE_REPLICA_URL must be a postgres:// URL, and so must DATABASE_URL: it names a PostgreSQL server that "
            "follows the first."
        )
    return url


def redis_url(name: str) -> str:
    """A broker or cache, or an empty text. Only the form of `sentinel://…` is checked, which is our own."""
    url: str = env.str(name, default="").strip()
    if sentinel.is_sentinel(url):
        try:
            sentinel.parse(url)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name} {error}.") from error
    return url


def cache_url(*, debug: bool) -> str:
    """`REDIS_URL`; empty where counters and cache are this process' own, as development has them by default."""
    to = f"redis://host:6379/0, or to {NO_REDIS} to count and cache in each process by itself"
    required("REDIS_URL", NO_REDIS, debug=debug, to=to)
    return redis_url("REDIS_URL").removeprefix(NO_REDIS)


def database_url(*, debug: bool, var_dir: Path) -> str:
    to = "postgres://user@host/name, or to sqlite:///path for a file, which serves one process"
    return required("DATABASE_URL", f"sqlite:///{var_dir / 'extension-platform.sqlite3'}", debug=debug, to=to)


def email_url(*, debug: bool) -> str:
    """`EMAIL_URL`. Printed mails, as development has them, would leave links that change passwords in the log."""
    to = "smtp+tls://user:password@host:587, or to dummymail:// to send no mail"
    url = required("EMAIL_URL", PRINTED_MAIL, debug=debug, to=to)
    if url.startswith(PRINTED_MAIL) and not debug:
        raise ImproperlyConfigured(
            f"EMAIL_URL may print mails with DEBUG only: their links are secrets. Set it to {to}."
        )
    return url


def trusted_proxies() -> tuple[str | IPv4Network | IPv6Network, ...]:
    """`TRUSTED_PROXIES`: networks separated by commas, and `unix` for a server behind a Unix socket."""
    if env.str("BEHIND_PROXY", default=""):
        raise ImproperlyConfigured(
            "BEHIND_PROXY is not a setting any more. Set TRUSTED_PROXIES to the addresses or networks from which your "
            "proxies connect, such as 127.0.0.1 or 10.0.0.0/8."
        )
    parts = [part.strip() for part in env.str("TRUSTED_PROXIES", default="").split(",")]
    try:
        return tuple(part if part == "unix" else ip_network(part) for part in parts if part)
    except ValueError as error:
        raise ImproperlyConfigured(
            f"TRUSTED_PROXIES must be networks separated by commas, such as 127.0.0.1, 10.0.0.0/8: {error}."
        ) from error


def public_link(name: str) -> str:
    """An https link, or an e-mail address as `mailto:`; empty if it isn't set."""
    text = env.str(name, default="").strip()
    if text and not PUBLIC_LINK_SHAPE.fullmatch(text):
        raise ImproperlyConfigured(
            f"{name} must be a link that starts with https://, or mailto: and an e-mail address, not {text!r}."
        )
    return text


def is_weak(secret: str) -> bool:
    """Whether a secret is too short, or has too few different characters to be random."""
    return len(secret) < MIN_SECRET_LENGTH or len(set(secret)) < 8


def secret_key(*, debug: bool, var_dir: Path) -> str:
    """`SECRET_KEY`. With `DEBUG` one is generated and kept under `var_dir`, so people stay signed in after a restart."""
    secret = env.str("SECRET_KEY", default="")
    if not secret and debug:
        return _development_secrets(var_dir)["SECRET_KEY"]
    if not debug and is_weak(secret):
        raise ImproperlyConfigured(
            "SECRET_KEY is missing or weak: without DEBUG it must have at least "
            f"{MIN_SECRET_LENGTH} random characters. One way to make it: "
            "python -c 'import secrets; print(secrets.token_urlsafe(48))'"
        )
    return secret


def secret_key_fallbacks() -> list[str]:
    """`SECRET_KEY_FALLBACKS`: earlier and coming keys, separated by commas, of which each is as hard to guess."""
    keys = [key.strip() for key in env.str("SECRET_KEY_FALLBACKS", default="").split(",") if key.strip()]
    if any(map(is_weak, keys)):
        raise ImproperlyConfigured(
            "SECRET_KEY_FALLBACKS has a weak key: each must have at least "
            f"{MIN_SECRET_LENGTH} random characters. List earlier and coming values of SECRET_KEY, separated by commas."
        )
    return keys


def local_destinations(*, debug: bool) -> bool:
    """`ALLOW_LOCAL_DESTINATIONS`, which would let apps of strangers reach the services of a production machine."""
    allowed = flag("ALLOW_LOCAL_DESTINATIONS")
    if allowed and not debug:
        raise ImproperlyConfigured(
            "ALLOW_LOCAL_DESTINATIONS works only with DEBUG: it lets apps reach the services of this machine. "
            "Unset it, or set DEBUG=1 on a development machine."
        )
    return allowed


def security_txt(base_url: str, *, debug: bool) -> str:
    """The text of `/.well-known/security.txt` (RFC 9116), from `SECURITY_CONTACT`, `SECURITY_EXPIRES` and
    `SECURITY_POLICY`. Empty without a contact, except in `DEBUG`.

    Without `SECURITY_EXPIRES` the text is good for half a year from this start.
    """
    contacts = env.list("SECURITY_CONTACT", default=["mailto:security@localhost"] if debug else [])
    if not contacts:
        return ""
    if not all(SECURITY_URI_SHAPE.fullmatch(contact) for contact in contacts):
        raise ImproperlyConfigured(
            "SECURITY_CONTACT must be addresses such as mailto:security@example.com or https://example.com/security, "
            f"separated by commas, not {', '.join(contacts)!r}."
        )
    policy = env.str("SECURITY_POLICY", default="").strip()
    if policy and not policy.startswith("https://"):
        raise ImproperlyConfigured(f"SECURITY_POLICY must be an https URL, not {policy!r}.")
    lines = [f"Contact: {contact}" for contact in contacts]
    lines += [f"Expires: {_security_expires()}", "Preferred-Languages: en"]
    lines += [f"Canonical: {base_url}/.well-known/security.txt"]
    lines += [f"Policy: {policy}"] if policy else []
    return "\n".join(lines) + "\n"


def _security_expires() -> str:
    text = env.str("SECURITY_EXPIRES", default="").strip()
    now = datetime.now(UTC)
    if not text:
        return f"{now + timedelta(days=182):%Y-%m-%dT%H:%M:%SZ}"
    try:
        expires = datetime.combine(date.fromisoformat(text), time(), UTC)
    except ValueError:
        raise ImproperlyConfigured(
            f"SECURITY_EXPIRES must be a date such as 2027-06-30, not {text!r}."
        ) from None
    return f"{expires:%Y-%m-%dT%H:%M:%SZ}"


def stores_url(*, base_url: str, port: int, debug: bool) -> str:
    """`STORES_URL`: the origin of the stores, where `{slug}` stands for one store's name.

    Scripts of apps run there, so it may be neither the platform's origin nor a host that shares cookies with it.
    Without `DEBUG` each store also needs its own origin.
    """
    url = env.str("STORES_URL", default="").strip().rstrip("/").lower()
    platform = urlsplit(base_url)
    if not url and debug:
        other = "127.0.0.1" if platform.hostname == "localhost" else "localhost"
        return f"{platform.scheme}://{other}:{port}"
    if not url:
        raise ImproperlyConfigured(
            "STORES_URL is missing: without DEBUG it must name a host for the stores, apart from that of BASE_URL and "
            "with {slug} for the store, such as https://{slug}.stores.example."
        )
    if not STORES_URL_SHAPE.fullmatch(url):
        raise ImproperlyConfigured(
            f"STORES_URL must be an address such as https://{{slug}}.stores.example, with nothing behind the host and "
            f"{{slug}} as the whole first part of it, not {url!r}."
        )
    if "{slug}" not in url and not debug:
        raise ImproperlyConfigured(
            f"STORES_URL must have {{slug}} in its host, not {url!r}: on a host that stores share, a script of one "
            "store's app could read the carts and orders of another. Set it to an address such as "
            "https://{slug}.stores.example."
        )
    _refuse_kin(platform.hostname or "", urlsplit(url).hostname or "")
    if urlsplit(url).scheme != platform.scheme:
        raise ImproperlyConfigured(
            f"STORES_URL and BASE_URL must both be https or both be http, not {url!r} and {base_url!r}."
        )
    return url


def _refuse_kin(platform: str, stores: str) -> None:
    """Raise if the hosts are the same or one is below the other, because they could then share cookies."""
    domain = stores.removeprefix("{slug}.")
    if f".{platform}".endswith(f".{domain}") or f".{domain}".endswith(f".{platform}"):
        raise ImproperlyConfigured(
            f"STORES_URL is on {stores} and BASE_URL on {platform}. Scripts of apps run in the stores, so neither host "
            "may be the other's or below it. Set STORES_URL to a host of another domain."
        )


def hosts(*urls: str) -> list[str]:
    """The entries of `ALLOWED_HOSTS` for these URLs. A leading dot means a domain and all its subdomains."""
    return [(urlsplit(url).hostname or "").replace("{slug}.", ".") for url in urls]


def metrics_token(*, debug: bool) -> str:
    """`METRICS_TOKEN`; empty if it isn't set."""
    token = env.str("METRICS_TOKEN", default="").strip()
    if token and not debug and is_weak(token):
        raise ImproperlyConfigured(
            f"METRICS_TOKEN is weak: it must have at least {MIN_SECRET_LENGTH} random characters, or be left out."
        )
    return token


def field_encryption_keys(*, debug: bool, var_dir: Path) -> tuple[str, ...]:
    """`FIELD_ENCRYPTION_KEYS`: Fernet keys separated by commas. The first one encrypts, all of them decrypt."""
    keys = tuple(
        key.strip() for key in env.str("FIELD_ENCRYPTION_KEYS", default="").split(",") if key.strip()
    )
    if not keys and debug:
        return (_development_secrets(var_dir)["FIELD_ENCRYPTION_KEY"],)
    if not keys or not all(_is_fernet_key(key) for key in keys):
        raise ImproperlyConfigured(
            "FIELD_ENCRYPTION_KEYS is missing or holds something other than Fernet keys (32 bytes in URL-safe "
            "base64, separated by commas). One way to make a key: python -c 'from cryptography.fernet import "
            "Fernet; print(Fernet.generate_key().decode())'"
        )
    return keys


def media_storages(*, var_dir: Path) -> dict[str, dict[str, Any]]:
    """Where pictures and the files of exports are: `MEDIA_STORAGE_URL`, or folders under `var_dir`.

    `s3://bucket/folder?endpoint=https://s3.example&region=eu-central-1`. Credentials have no place in it: the library reads
    `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or the role of the machine.
    """
    url = of_extra("MEDIA_STORAGE_URL", extra="s3", package="django-storages")
    if not url:
        on_disk = "common.disks.DiskStorage"
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
    parts, query = urlsplit(url), parse_qs(urlsplit(url).query)
    endpoint = query.pop("endpoint", [""])[0]
    region = query.pop("region", [""])[0]
    if (
        parts.scheme != "s3"
        or not BUCKET_SHAPE.fullmatch(parts.netloc)
        or query
        or (endpoint and not urlsplit(endpoint).hostname)
    ):
        raise ImproperlyConfigured(
            "MEDIA_STORAGE_URL must look like s3://bucket/folder?endpoint=https://s3.example&region=eu-central-1, where "
            "folder, endpoint and region may be left out. Credentials belong in AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY."
        )
    folder = parts.path.strip("/")
    options = {
        "bucket_name": parts.netloc,
        "endpoint_url": endpoint or None,
        "region_name": region or None,
    }
    return {
        name: {
            "BACKEND": "common.object_storage.ObjectStorage",
            "OPTIONS": {**options, "location": "/".join(filter(None, (folder, below))), **more},
        }
        for name, below, more in (
            ("default", "media", {}),
            ("exports", "exports", {"object_parameters": {"ContentType": "application/gzip"}}),
        )
    }


def of_extra(name: str, *, extra: str, package: str) -> str:
    """The value of a variable that turns on an optional part of the product, whose packages have to be installed."""
    value: str = env.str(name, default="").strip()
    try:
        assert not value or version(package)
    except PackageNotFoundError:
        raise ImproperlyConfigured(
            f"{name} needs packages that are not installed: pip install '.[{extra}]'"
        ) from None
    return value


def _is_fernet_key(text: str) -> bool:
    try:
        key = base64.urlsafe_b64decode(text)
    except ValueError:
        return False
    return len(key) == 32 and len(set(key)) >= 8


def _development_secrets(var_dir: Path) -> dict[str, str]:
    """Secrets of a development machine, generated at the first start. Without them no webhook secret can be decrypted."""
    path = var_dir / "development-secrets.json"
    if not path.exists():
        var_dir.mkdir(parents=True, exist_ok=True)
        made = {
            "SECRET_KEY": secrets.token_urlsafe(48),
            "FIELD_ENCRYPTION_KEY": Fernet.generate_key().decode(),
        }
        draft = path.with_suffix(f".{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(made))
        try:
            os.link(draft, path)  # the first of several processes wins; the others read its file
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    stored: dict[str, str] = json.loads(path.read_text())
    return stored
