"""Runs a command under the restrictions of system calls that a unit has: `restricted.py UNIT COMMAND…`.

`unit_settings` reads a unit as systemd does, with the file that all units share. The protections that systemd has by other means (folders, users,
capabilities) is in `tests.deploy.isolation`.
"""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

SYSTEMD: Final = Path(__file__).parents[2] / "deploy/systemd"
ALLOWED_SOCKETS: Final = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}
WRITE, EXECUTE = 2, 4  # PROT_WRITE, PROT_EXEC
SHM_EXEC: Final = 0o100000
NAMESPACES: Final = 0x7E020080  # every CLONE_NEW…


def unit_settings(unit: str) -> dict[str, list[str]]:
    """Each setting's values in their order."""
    settings: dict[str, list[str]] = {}
    name = f"extension-platform-{unit}.service"
    for file in (SYSTEMD / name, SYSTEMD / "extension-platform-.service.d/common.conf"):
        for key, value in re.findall(r"^(\w+)=(.*)$", file.read_text(), re.MULTILINE):
            settings.setdefault(key, []).append(value)
    return settings


def members(name: str) -> set[str]:
    """The system calls of a set such as `@system-service`, or the one of that name."""
    if not name.startswith("@"):
        return {name}
    listed = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager", name], capture_output=True, text=True, check=True
    )
    lines = [line.strip() for line in listed.stdout.splitlines()[1:]]
    return set().union(*(members(line) for line in lines if line and not line.startswith("#")))


def allowed_calls(filters: list[str]) -> set[str]:
    """What `SystemCallFilter=` lines allow. The first one is a list of what is allowed."""
    assert not filters[0].startswith("~")
    allowed: set[str] = set()
    for line in filters:
        named = set().union(*map(members, line.removeprefix("~").split()))
        allowed = allowed - named if line.startswith("~") else allowed | named
    return allowed


def restrict(settings: dict[str, list[str]]) -> None:
    """This process and all that it starts."""
    import pyseccomp as seccomp  # loads its library at once

    (error,) = settings["SystemCallErrorNumber"]
    rules = seccomp.SyscallFilter(seccomp.ERRNO(getattr(errno, error)))
    allowed = allowed_calls(settings["SystemCallFilter"])

    def allow(call: str, *conditions: Any) -> None:
        allowed.discard(call)
        rules.add_rule(seccomp.ALLOW, call, *conditions)

    def without(place: int, bits: int) -> Any:
        return seccomp.Arg(place, seccomp.MASKED_EQ, bits, 0)

    for family in settings["RestrictAddressFamilies"][0].split():
        allow("socket", seccomp.Arg(0, seccomp.EQ, ALLOWED_SOCKETS[family]))
    assert settings["MemoryDenyWriteExecute"] == settings["RestrictNamespaces"] == ["yes"]
    for bits in (WRITE, EXECUTE):
        allow("mmap", without(2, bits))
    allow("mprotect", without(2, EXECUTE))
    allow("pkey_mprotect", without(2, EXECUTE))
    allow("shmat", without(2, SHM_EXEC))
    allow("clone", without(0, NAMESPACES))
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")  # so that the C library takes clone
    for call in sorted(allowed - {"clone3", "unshare", "setns", "personality"}):
        try:
            rules.add_rule(seccomp.ALLOW, call)
        except OSError:  # of another kind of processor
            continue
    rules.load()


if __name__ == "__main__":
    restrict(unit_settings(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606
