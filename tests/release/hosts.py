"""Machines on which the commands of the guides run, as root and unchanged, without touching this one."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Self

from tests.faults.machines import Machine

SYSTEMCTL = Path(__file__).with_name("systemctl.py")
STUBS = {
    "systemctl": f'#!/bin/sh\nexec /usr/bin/python3 {SYSTEMCTL} "$@"\n',
    # The programs are here (`.ci/prepare`); packages would start servers.
    "apt-get": "#!/bin/sh\n",
}
# A file system of its own wherever the guides write, with what these folders have on a new machine.
NEW = """
set -eu
own() {
    mkdir -p "$1$2"
    mount --bind "$1$2" "$2"
}
cp -a /etc "$1/etc"
mkdir -p "$1/var/lib/nginx" "$1/var/log/nginx"
for path in /etc /opt /var/lib /var/log /var/cache; do own "$1" "$path"; done
mount -t tmpfs none /run
echo made
exec sleep infinity
"""


class Host:
    """A context manager: a machine of a network, with files of its own."""

    def __init__(self, machine: Machine) -> None:
        self.address, self.machine, self.files = machine.address, machine, machine.folder / "root"
        self._stubs = machine.folder / "stubs"

    def run(
        self, commands: str, folder: Path | str = "/", *, is_online: bool = False, **environment: str
    ) -> str:
        """What they print. `is_online` gives them this machine's network, for pip."""
        spaces = ["--mount"] if is_online else ["--mount", "--net"]
        passed = {
            name: value for name, value in os.environ.items() if name.startswith(("PIP_", "LANG", "HOME"))
        }
        path = {"PATH": f"{self._stubs}:/usr/sbin:/usr/bin:/sbin:/bin"}
        done = subprocess.run(
            ["nsenter", "--target", str(self._holder.pid), *spaces, "bash", "-euc", f"cd {folder}\n{commands}"],
            env=passed | path | environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}{self.logs()}"
        return done.stdout

    def logs(self) -> str:
        return "".join(
            f"\n{file.name}:\n{file.read_text()[-3000:]}" for file in (self.files / "var/log").glob("*.log")
        )

    def write(self, path: str, text: str) -> None:
        file = self.files / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def has(self, path: str) -> bool:
        return (self.files / path.lstrip("/")).exists()

    def read(self, path: str) -> str:
        return (self.files / path.lstrip("/")).read_text()

    def __enter__(self) -> Self:
        self._stubs.mkdir()
        for name, text in STUBS.items():
            (self._stubs / name).write_text(text)
            (self._stubs / name).chmod(0o755)
        self.files.mkdir()
        self._holder = subprocess.Popen(
            [*self.machine.inside, "unshare", "--mount", "--propagation", "private", "sh", "-c", NEW, "sh", self.files],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._holder.stdout
        assert self._holder.stdout.readline() == "made\n"
        return self

    def __exit__(self, *_: object) -> None:
        """Ends all that runs there."""
        named = ["ip", "netns", "pids", self.machine.namespace]
        for pid in subprocess.run(named, capture_output=True, text=True, check=False).stdout.split():
            os.kill(int(pid), signal.SIGKILL)
        self._holder.wait()
