"""Reading the environment: nonsense is refused at the start, in words that name the variable."""

import base64
import json
import os
import secrets
from pathlib import Path

import environ
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

env = environ.Env()

MIN_SECRET_LENGTH = 32


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
    text = env.str(name, default="").strip() or str(default)
    if not text.isdigit():
        raise ImproperlyConfigured(f"{name} must be a whole number of seconds, not {text!r}.")
    return int(text)


def is_weak(secret: str) -> bool:
    """Too short, or of too few different characters to have been made by chance."""
    return len(secret) < MIN_SECRET_LENGTH or len(set(secret)) < 8


def secret_key(*, debug: bool, var_dir: Path) -> str:
    """`SECRET_KEY`. In `DEBUG` one is made and kept under `var_dir`, so that restarts keep sign-ins."""
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


def metrics_token(*, debug: bool) -> str:
    """`METRICS_TOKEN`; empty where there is none."""
    token = env.str("METRICS_TOKEN", default="").strip()
    if token and not debug and is_weak(token):
        raise ImproperlyConfigured(
            f"METRICS_TOKEN is weak: it must have at least {MIN_SECRET_LENGTH} random characters, or be left out."
        )
    return token


def field_encryption_keys(*, debug: bool, var_dir: Path) -> tuple[str, ...]:
    """`FIELD_ENCRYPTION_KEYS`: Fernet keys separated by commas, the one that encrypts first."""
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


def _is_fernet_key(text: str) -> bool:
    try:
        key = base64.urlsafe_b64decode(text)
    except ValueError:
        return False
    return len(key) == 32 and len(set(key)) >= 8


def _development_secrets(var_dir: Path) -> dict[str, str]:
    """Secrets of this working copy, made at the first start. Losing them would lose every webhook secret."""
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
