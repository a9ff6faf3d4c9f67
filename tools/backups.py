"""A cluster of one's own whose backups pgBackRest keeps, with the files of `deploy/pgbackrest` and the commands of docs/operations-run.md."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Self

from tools.servers import Missing, Postgres

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs/operations-run.md"
PASSPHRASE = "a passphrase of tests"


def block(name: str, guide: Path = GUIDE) -> str:
    """The commands of a guide below this name."""
    (found,) = re.findall(rf"^```sh {name}\n(.*?)^```", guide.read_text(), re.MULTILINE | re.DOTALL)
    return str(found)


class BackedUp(Postgres):
    """A cluster that archives its log to a repository. A context manager; the first backup is the caller's to take.

    `repository`: "disk", or "s3" with the settings that say where. Places of this cluster are in the environment, which comes
    before the files, so these are used as they are.
    """

    def __init__(self, repository: str = "disk", **settings: str) -> None:
        if shutil.which("pgbackrest") is None:
            raise Missing("pgbackrest is not installed")
        super().__init__()
        self.repository = self.directory / "repository"
        self._machine = self.directory / "machine"
        folders = {name: self.directory / name for name in ("repository", "lock", "log-of-backups", "spool")}
        for folder in folders.values():
            folder.mkdir()
            self._give(folder)
        self._set_up(repository)
        places = {
            "config": self._machine / "etc/pgbackrest/pgbackrest.conf",
            "config_include_path": self._machine / "etc/pgbackrest/conf.d",
            "lock_path": folders["lock"],
            "log_path": folders["log-of-backups"],
            "spool_path": folders["spool"],
            "pg1_path": self.data,
            "pg1_port": self.port,
            "pg1_socket_path": self.directory,
            "repo1_cipher_pass": PASSPHRASE,
            **({"repo1_path": self.repository} if repository == "disk" else {}),
            **settings,
        }
        self.environment |= {f"PGBACKREST_{name.upper()}": str(value) for name, value in places.items()}
        self.environment |= {
            "PATH": f"{self._machine}/usr/local/bin:{self.programs}:{os.environ['PATH']}",
            "PGDATA": str(self.data),
            "PGHOST": str(self.directory),
            "PGPORT": str(self.port),
            "PGUSER": "postgres",
        }

    def _set_up(self, repository: str) -> None:
        """As the guide does it, on a machine that is a folder."""
        (self._machine / "etc/postgresql/17/main/conf.d").mkdir(parents=True, exist_ok=True)
        commands = re.sub(r'([ "])/(?=etc|usr)', rf"\1{self._machine}/", block("set-up-backups"))
        commands = commands.replace("repository-s3", f"repository-{repository}")
        if not self.as_user:
            commands = commands.replace("--group=postgres ", "")
        subprocess.run(["bash", "-euc", commands], check=True, cwd=ROOT)

    def __enter__(self) -> Self:
        self.make()
        self.configure(include_dir=f"{self._machine}/etc/postgresql/17/main/conf.d")
        self.start()
        return self

    def do(self, commands: str, **environment: str) -> str:
        """Commands of a shell as the owner of the cluster. Gives what they print; raises RuntimeError if one fails."""
        done = subprocess.run(
            [*self.as_user, "bash", "-euc", commands],
            check=False,
            cwd=self.directory,
            env=os.environ | self.environment | environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode:
            raise RuntimeError(f"{commands} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        return done.stdout

    def restore(self, target: str = "", *, from_its_disk: bool = False) -> None:
        """Of a dead cluster: to a moment, or to its last commit. That one, and with `from_its_disk` the moment, too, may be in what it
        had not archived yet.
        """
        commands = block("restore")
        if not target:
            commands = re.sub(r"--type=time.*--target-action=promote ", "", commands)
        if from_its_disk or not target:
            commands = commands.replace(
                "pg_ctl start", 'cp -a "$PGDATA.lost/pg_wal/." "$PGDATA/pg_wal"\npg_ctl start'
            )
        self.do(commands, TARGET=target)
