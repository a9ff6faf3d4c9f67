"""`make demo-connected`: the demo, and beside it a shop that isn't ours, connected: `examples/oscar_shop`.

The shop runs in an environment of its own, `build/oscar/.venv`, and knows the platform by HTTP alone.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]
SHOP = ROOT / "examples" / "oscar_shop"
PYTHON = ROOT / "build" / "oscar" / ".venv" / "bin" / "python"
PASSED_ON = ("PATH", "HOME", "LANG")
START_WITHIN = 400.0  # seconds; a busy machine takes many
STOP_WITHIN = 20.0
OWNER, PASSWORD = "owner@harbor.example", "demo-password"  # of `fill_shop`

BANNER = """
  A connected shop runs on {shop}: django-oscar, unmodified

    Dashboard          {shop}/dashboard/   {owner}, password: {password}
    Install an app     sign in there and press Apps, then Browse apps, Order Bell, Install and Install

  Then put three of a product into the basket: the app takes 10% off.
"""


def framing_of(port: int) -> tuple[str, str]:
    """Arguments of `manage.py demo`: the sample app's frames may be on the pages of the shop at this port."""
    return "--shop", f"http://localhost:{port}"


class Shop:
    """Oscar's web server and its sender, with their data in `folder`."""

    def __init__(self, folder: Path, *, port: int, platform: str, **environment: str) -> None:
        self.folder, self.port = folder, port
        self.url = f"http://localhost:{port}"
        self.environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ} | {
            "OSCAR_FOLDER": str(folder),
            "OSCAR_URL": self.url,
            "PLATFORM_URL": platform,
            "PYTHONWARNINGS": "ignore",
            **environment,
        }
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def connection(self) -> Path:
        """What `connect_shop` printed; only its owner may read it."""
        return self.folder / "connection.json"

    def prepare(self) -> None:
        """Make its tables and products."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.manage("migrate", "--run-syncdb", "--verbosity", "0")
        self.manage("fill_shop")

    def connect(self, environment: dict[str, str]) -> None:
        """As the platform's operator does on its server, whose environment this is."""
        if self.connection.exists():
            return
        command = [
            sys.executable, "manage.py", "connect_shop", f"Harbor Goods {self.port}", "--test", "--json",
            "--commands", f"{self.url}/platform/commands", "--sign-in", f"{self.url}/dashboard/apps/",
        ]  # fmt: skip
        made = subprocess.run(
            command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
        )
        self.connection.touch(mode=0o600)
        self.connection.write_text(json.dumps(json.loads(made.stdout)))

    def manage(self, *arguments: str) -> str:
        """Run one of its commands, and return what it printed."""
        command = [str(PYTHON), "manage.py", *arguments]
        return subprocess.run(
            command, cwd=SHOP, env=self.environment, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def start(self, name: str, *arguments: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [str(PYTHON), "manage.py", *arguments],
                cwd=SHOP,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C reaches the demo, which then ends the shop
            )

    def start_web(self) -> None:
        self.start("web", "runserver", "--noreload", f"127.0.0.1:{self.port}")
        wait_for(f"{self.url}/healthz", self.processes["web"].poll)

    def restart_web(self, **environment: str) -> None:
        end(self.processes["web"])
        self.environment |= environment
        self.start_web()

    def start_sender(self) -> None:
        self.start("sender", "push_to_platform")

    def stop(self) -> None:
        for process in self.processes.values():
            end(process)


def wait_for(url: str, ended: Callable[[], int | None]) -> None:
    until = time.monotonic() + START_WITHIN
    while time.monotonic() < until:
        if ended() is not None:
            sys.exit(f"What should answer at {url} has ended.")
        try:
            with urlopen(url, timeout=2):  # noqa: S310 - ours
                return
        except (URLError, OSError):
            time.sleep(0.1)
    sys.exit(f"{url} doesn't answer.")


def end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main() -> None:
    """Run both until a signal comes, or one of them ends."""
    port = int(os.environ.get("PORT") or 8000)
    environment = os.environ | {
        "PORT": str(port),
        "DEBUG": os.environ.get("DEBUG", "1"),
        "ALLOW_LOCAL_DESTINATIONS": os.environ.get("ALLOW_LOCAL_DESTINATIONS", "1"),
    }
    folder = Path(os.environ.get("VAR_DIR") or ROOT / "var").resolve()
    shop_port = int(os.environ.get("OSCAR_PORT") or port + 2)
    platform = f"http://127.0.0.1:{port}"
    shop = Shop(folder / f"oscar-{shop_port}", port=shop_port, platform=platform)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    demo = subprocess.Popen(
        [sys.executable, "manage.py", "demo", *framing_of(shop_port)],
        cwd=ROOT,
        env=environment,
        start_new_session=True,
    )
    try:
        shop.prepare()
        wait_for(f"{platform}/healthz", demo.poll)
        shop.connect(environment)
        shop.start_web()
        shop.start_sender()
        print(
            BANNER.format(shop=shop.url, owner=OWNER, password=PASSWORD),
            flush=True,
        )
        while demo.poll() is None and all(each.poll() is None for each in shop.processes.values()):
            time.sleep(0.5)
    finally:
        shop.stop()
        end(demo)


def _stop(*_: object) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main()
