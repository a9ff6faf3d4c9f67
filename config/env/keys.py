"""Keys that sign and encrypt, and tokens of the operator. None of them appears in a message."""

import base64
import json
import os
import secrets
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.core.exceptions import ImproperlyConfigured

from config.env.reading import env

MIN_SECRET_LENGTH = 32


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


def session_token_keys() -> tuple[bytes, ...]:
    """`SESSION_TOKEN_KEYS`: Ed25519 private keys, separated by commas, as their 32 bytes. The first one signs, all are published.

    Each is PKCS#8 in PEM, or base64 of its 32 bytes. Empty: the platform makes one and keeps it.
    """
    given = env.str("SESSION_TOKEN_KEYS", default="")
    keys = tuple(_ed25519_key(each.strip()) for each in given.split(",") if each.strip())
    if len(set(keys)) != len(keys):
        raise ImproperlyConfigured("SESSION_TOKEN_KEYS has a key twice.")
    return keys


def _ed25519_key(text: str) -> bytes:
    wrong = ImproperlyConfigured(
        "SESSION_TOKEN_KEYS holds something other than Ed25519 private keys (PKCS#8 in PEM, or base64 of 32 random bytes, "
        "separated by commas). One way to make a key: openssl genpkey -algorithm ed25519"
    )
    try:
        if not text.startswith("-----"):
            key = base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
        else:
            loaded = load_pem_private_key(text.encode(), password=None)
            if not isinstance(loaded, Ed25519PrivateKey):
                raise wrong
            key = loaded.private_bytes_raw()
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise wrong from error
    if len(key) != 32 or len(set(key)) < 8:
        raise wrong
    return key


def metrics_token(*, debug: bool) -> str:
    """`METRICS_TOKEN`; empty if it isn't set."""
    token = env.str("METRICS_TOKEN", default="").strip()
    if token and not debug and is_weak(token):
        raise ImproperlyConfigured(
            f"METRICS_TOKEN is weak: it must have at least {MIN_SECRET_LENGTH} random characters, or be left out."
        )
    return token


def _is_fernet_key(text: str) -> bool:
    try:
        key = base64.urlsafe_b64decode(text)
    except ValueError:
        return False
    return len(key) == 32 and len(set(key)) >= 8


def _development_secrets(var_dir: Path) -> dict[str, str]:
    """Secrets of a development machine, generated at the first start. Without them no webhook secret can be decrypted."""
    path = var_dir / "development-secrets.json"
    try:
        return _kept_secrets(path)
    except OSError as error:
        raise ImproperlyConfigured(
            f"VAR_DIR must be a folder that this process may write. {error.filename}: {error.strerror}."
        ) from error


def _kept_secrets(path: Path) -> dict[str, str]:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
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
