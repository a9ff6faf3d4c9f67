"""Called as `systemctl` by the commands of the guides, since no systemd runs where the tests do.

It starts a unit's own ExecStart, as its user, in its folder and with its settings, from the files that the guide has copied. It can't
give is systemd's protection and its restarts: `tests/deploy/test_files.py` has `systemd-analyze` read the units.
"""

import os
import pwd
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

UNITS = Path("/etc/systemd/system")
VERBS = ("enable", "start", "restart", "try-restart", "reload")


def main(verb: str, *arguments: str) -> None:
    if verb == "daemon-reload":
        return
    assert verb in VERBS, verb
    for name in arguments:
        if name == "nginx":
            with Path("/var/log/nginx-start.log").open(
                "wb"
            ) as log:  # it keeps what it is given, and the test reads ours to its end
                subprocess.run(
                    ["nginx"], check=True, stdout=log, stderr=log
                )  # Debian's own unit starts no more
        elif name != "--now":
            start(name)


def settings(name: str) -> "dict[str, list[str]]":
    """Of the unit and the files beside it that add to it."""
    parts = name.split("-")
    added = [f"{'-'.join(parts[:length])}-.service.d" for length in range(1, len(parts))] + [
        f"{name}.service.d"
    ]
    files = [
        UNITS / f"{name}.service",
        *(file for each in added for file in sorted((UNITS / each).glob("*.conf"))),
    ]
    found = defaultdict(list)
    for line in "\n".join(file.read_text() for file in files).splitlines():
        key, is_setting, value = line.partition("=")
        if is_setting and not key.startswith(("#", ";")):
            found[key].append(value)
    return found


def start(name: str) -> None:
    unit = settings(name)
    (user,), (folder,), (command,) = unit["User"], unit["WorkingDirectory"], unit["ExecStart"]
    owner = pwd.getpwnam(user)
    for state in unit["StateDirectory"]:
        path = Path("/var/lib") / state
        path.mkdir(exist_ok=True)
        path.chmod(int(unit["StateDirectoryMode"][-1], 8))
        os.chown(path, owner.pw_uid, owner.pw_gid)
    secrets = credentials(unit["LoadCredential"], name, owner)
    given = " ".join(unit["Environment"]).replace("%d", str(secrets))
    environment = {
        "CREDENTIALS_DIRECTORY": str(secrets),
        **dict(each.split("=", 1) for each in shlex.split(given)),
    }
    # The file has single quotes, which systemd and shells read alike.
    read = "".join(f". {file.removeprefix('-')}; " for file in unit["EnvironmentFile"])
    with Path(f"/var/log/{name}.log").open("wb") as log:
        subprocess.Popen(
            ["runuser", "-u", user, "--", "sh", "-ac", f"umask {unit['UMask'][-1]}; {read}exec {command}"],
            cwd=folder, env={"PATH": os.environ["PATH"]} | environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def credentials(named: "list[str]", name: str, owner: pwd.struct_passwd) -> Path:
    """A folder of copies for that user alone."""
    folder = Path("/run/credentials") / name
    folder.mkdir(parents=True, exist_ok=True)
    for each in named:
        ident, _, source = each.partition(":")
        (folder / ident).write_bytes(Path(source).read_bytes())
    for path in (folder, *folder.iterdir()):
        os.chown(path, owner.pw_uid, owner.pw_gid)
        path.chmod(0o500 if path.is_dir() else 0o400)
    return folder


if __name__ == "__main__":
    main(*sys.argv[1:])
