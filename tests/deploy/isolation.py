"""Where processes of ours run as `deploy/` starts them: few folders that can be written, a user of their own, no capabilities."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from cryptography.fernet import Fernet

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text()
USER = re.findall(r"^USER (\d+)$", DOCKERFILE, re.MULTILINE)[0]
VAR_DIR = re.findall(r"VAR_DIR=(\S+) BIND", DOCKERFILE)[0]
REFUSED = r"Read-only|Permission denied|not permitted"

# VAR_DIR as the image has it, each tmpfs, and nothing that can be written but these or, with `writable`, both.
SANDBOX = """
set -eu
image=$1 var=$2 user=$3 mounts=$4 writable=$5 secrets=$6
shift 6
mount --make-rprivate /
mount -t tmpfs none /var/lib
mkdir "$var"
mount --bind "$image" "$var"
[ -z "$secrets" ] || cp -r "$secrets" /var/lib/secrets
for mount in $mounts; do
    path=${mount%%:*} options=${mount#"$path"}
    mkdir -p "$path"
    mount -t tmpfs -o "mode=1777${options:+,${options#:}}" none "$path"
done
awk '{ print $5 }' /proc/self/mountinfo | while read -r path; do
    case " $mounts $writable /dev /proc /sys " in *" $path "*|*" $path:"*) continue ;; esac
    case $path in /dev*|/proc*|/sys*) continue ;; esac
    mount -o remount,bind,ro "$path" 2>/dev/null || true
done
# It may read everything, since the interpreter of a test can be in somebody's home.
read=-all,+dac_read_search
exec setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs \\
    --bounding-set "$read" --inh-caps "$read" --ambient-caps "$read" "$@"
"""


SECRETS = "/var/lib/secrets"


def isolated(
    image: Path, tmpfs: Iterable[str], *, writable: str = "", secrets: Path | None = None
) -> tuple[str, ...]:
    """To be put before a command. `tmpfs` is written as in Compose: `/tmp:size=64m`. `writable` may be VAR_DIR.

    The command finds the files of `secrets` in `SECRETS`.
    """
    outer = ("unshare", "--mount", "sh", "-c", SANDBOX, "sh")
    return (*outer, str(image), VAR_DIR, USER, " ".join(tmpfs), writable, str(secrets or ""))


def environment() -> dict[str, str]:
    return os.environ | {
        "DEBUG": "0",
        "ALLOW_LOCAL_DESTINATIONS": "0",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "BASE_URL": "https://platform.example",
        "STORES_URL": "https://{slug}.stores.example",
        "SECRET_KEY": "a key of this test alone, 1234567890 1234567890",
        "METRICS_TOKEN": "a token of this test alone, 1234567890 123456",
        "FIELD_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "EMAIL_URL": "dummymail://",
        "VAR_DIR": VAR_DIR,
        "WEB_PROCESSES": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
