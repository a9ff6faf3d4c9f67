"""Makes the files of `NAME_FILE` settings (docs/operations-settings.md): `python3 deploy/make_secrets.py FOLDER`, with `--compose` for
deploy/compose.yaml. Files that exist stay, so that a second run makes what is missing.
"""

import base64
import json
import secrets
import sys
from pathlib import Path

RANDOM = ("SECRET_KEY", "METRICS_TOKEN")
# Of the operator's own servers. The second ones may stay empty, which leaves the setting out.
NEEDED = ("DATABASE_URL", "REDIS_URL", "EMAIL_URL")
OPTIONAL = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "CELERY_BROKER_URL",
    "SENTRY_DSN",
)


class Folder:
    """Only its owner may enter it, also if it was there before. `mode` is that of its files."""

    def __init__(self, path: Path, *, mode: int) -> None:
        self._path, self._mode = path, mode
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)

    def has(self, name: str, content: str) -> str:
        """The content of the file, which is this unless it exists."""
        file = self._path / name
        is_new = not file.exists()
        file.touch(mode=0o600)
        file.chmod(self._mode)
        if is_new:
            file.write_text(content)
        return file.read_text().strip()


def make(folder: Folder) -> None:
    for name in RANDOM:
        folder.has(name, secrets.token_urlsafe(48))
    folder.has("SECRET_KEY_FALLBACKS", "")
    folder.has("FIELD_ENCRYPTION_KEYS", base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())


def make_for_compose(folder: Folder) -> None:
    """What its servers and the platform both need to know. Passwords are in hexadecimal digits, as they are put into URLs."""
    database = folder.has("DATABASE_PASSWORD", secrets.token_hex(24))
    for name, server in (("DATABASE_URL", "postgres:5432"), ("DATABASE_URL_OF_WEB", "pgbouncer:6432")):
        folder.has(name, f"postgres://platform:{database}@{server}/platform")
    folder.has("userlist.txt", f'"platform" "{database}"\n')
    key = folder.has("AWS_SECRET_ACCESS_KEY", secrets.token_hex(24))
    platform = {
        "name": "platform",
        "actions": ["Admin", "Read", "Write", "List"],
        "credentials": [{"accessKey": "platform", "secretKey": key}],
    }
    folder.has("s3.json", json.dumps({"identities": [platform]}))


def main() -> None:
    *options, path = sys.argv[1:]
    for_compose = options == ["--compose"]
    # Compose mounts single files as they are, for users of its containers that aren't their owner.
    folder, needed = Folder(Path(path), mode=0o644 if for_compose else 0o600), NEEDED
    make(folder)
    if for_compose:
        make_for_compose(folder)
        needed = ("EMAIL_URL",)
    else:
        for name in OPTIONAL:
            folder.has(name, "")
    if left := [name for name in needed if not folder.has(name, "")]:
        print(f"Fill in, in {path}: {', '.join(left)}.")  # noqa: T201


if __name__ == "__main__":
    main()
