"""What operators start from (`deploy/`): each file is checked by the tool that reads it."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from django.core.management import get_commands

from tests.faults.servers import skipped_if_missing
from tests.ports import free_port
from tests.receivers import Answer, Receiver
from tools import servers

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
OF_COMPOSE = {"POSTGRES_PASSWORD", "FILES_PASSWORD"}


def tool(name: str) -> str:
    """Its path: beside the interpreter or on PATH. Without it the test is skipped."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def checked(*command: str, **options: Any) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def documented() -> set[str]:
    guide = (ROOT / "docs/operations.md").read_text()
    table = guide.split("## Settings", 1)[1].split("\n## ", 1)[0]
    return {
        name
        for row in table.splitlines()
        if row.startswith("| `")
        for name in re.findall(r"`([A-Z_]+)`", row)
    }


def test_dockerfile_has_no_finding() -> None:
    checked(tool("hadolint"), str(DEPLOY / "Dockerfile"))


@pytest.fixture
def compose(tmp_path: Path) -> dict[str, Any]:
    """The services, as Docker Compose understands them."""
    program = tool("docker-compose")
    for name in ("compose.yaml", "example.env"):
        shutil.copy(DEPLOY / name, tmp_path)
    text = (tmp_path / "example.env").read_text()
    (tmp_path / ".env").write_text(re.sub(r"^(\w+_PASSWORD)=$", r"\1=secret", text, flags=re.MULTILINE))
    made = subprocess.run(
        [program, "--file", str(tmp_path / "compose.yaml"), "config", "--format", "json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    services: dict[str, Any] = json.loads(made.stdout)["services"]
    return services


def test_compose_starts_two_of_everything_that_serves_and_works(compose: dict[str, Any]) -> None:
    assert {name: each["deploy"]["replicas"] for name, each in compose.items() if "deploy" in each} == {
        "worker": 2
    }
    ours = {name: each for name, each in compose.items() if each["image"] == "extension-platform"}
    assert {each["command"][0] for each in ours.values()} <= get_commands().keys()
    assert {
        "proxy",
        "web1",
        "web2",
        "worker",
        "scheduler",
        "migrate",
        "postgres",
        "redis",
        "files",
    } <= compose.keys()
    for name, each in ours.items():
        settings = each["environment"]
        pooled = "pgbouncer" in settings["DATABASE_URL"]
        assert pooled is (settings.get("DATABASE_POOLER") == "transaction") is name.startswith("web")
        assert each["read_only"]
    assert all("healthcheck" in each for each in (compose["worker"], compose["scheduler"]))


def test_proxy_of_compose_knows_each_web_server_by_an_address_that_stays(compose: dict[str, Any]) -> None:
    named = set(re.findall(r"server (web\d):8000", (DEPLOY / "nginx.conf").read_text()))
    assert named == {name for name in compose if name.startswith("web")}
    addresses = {name: compose[name]["networks"]["default"]["ipv4_address"] for name in named}
    assert dict(host.split("=") for host in compose["proxy"]["extra_hosts"]) == addresses


def test_poolers_give_up_alike(compose: dict[str, Any]) -> None:
    file = dict(re.findall(r"^(\w+) = (.*)$", (DEPLOY / "pgbouncer.ini").read_text(), re.MULTILINE))
    names = (
        "pool_mode",
        "default_pool_size",
        "max_client_conn",
        "query_wait_timeout",
        "server_connect_timeout",
    )
    environment = compose["pgbouncer"]["environment"]
    assert {name: environment[name.upper()] for name in names} == {name: file[name] for name in names}


def test_compose_without_passwords_says_what_to_set(tmp_path: Path) -> None:
    program = tool("docker-compose")
    shutil.copy(DEPLOY / "compose.yaml", tmp_path)
    shutil.copy(DEPLOY / "example.env", tmp_path / ".env")
    refused = subprocess.run(
        [program, "--file", str(tmp_path / "compose.yaml"), "config", "--quiet"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "_PASSWORD is missing a value: Set it in deploy/.env" in refused.stderr


def test_settings_of_deploy_are_documented() -> None:
    named = set(re.findall(r"^#?([A-Z_]+)=", (DEPLOY / "example.env").read_text(), re.MULTILINE))
    assert named - OF_COMPOSE <= documented()
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    assert {"BIND", "HEARTBEAT_FILE", "VAR_DIR"} <= documented() & set(re.findall(r"([A-Z_]+)=", dockerfile))


@pytest.mark.parametrize("unit", ["web", "worker", "scheduler", "deliver"])
def test_systemd_accepts_the_units(unit: str, tmp_path: Path) -> None:
    """With our own interpreter, since the program has to be there."""
    name = f"extension-platform-{unit}.service"
    text = (DEPLOY / "systemd" / name).read_text()
    (command,) = re.findall(r"manage.py (\w+).*$", text, re.MULTILINE)
    assert command in get_commands()
    assert "ExecStart=/usr/bin/env .venv/bin/python manage.py " in text
    here = text.replace("/usr/bin/env .venv/bin/python", sys.executable)
    (tmp_path / name).write_text(here)
    assert checked(tool("systemd-analyze"), "verify", str(tmp_path / name)) == ""


@pytest.mark.parametrize("unit", ["web", "worker", "scheduler", "deliver"])
def test_units_keep_their_files_private_and_their_memory_bounded(unit: str) -> None:
    text = (DEPLOY / f"systemd/extension-platform-{unit}.service").read_text()
    settings = dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))
    assert (settings["StateDirectoryMode"], settings["UMask"]) == ("0700", "0077")
    high, most = (int(settings[name].rstrip("%M")) for name in ("MemoryHigh", "MemoryMax"))
    assert 0 < high < most
    described = (ROOT / "docs/operations.md").read_text().split("## Memory", 1)[1].split("\n## ", 1)[0]
    assert {settings["MemoryHigh"], settings["MemoryMax"]} <= set(re.findall(r"\d+[%M]", described))


def test_every_service_of_compose_has_a_limit_of_memory_and_an_exact_version() -> None:
    services: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert [name for name, each in services.items() if not re.fullmatch(r"\d+[mg]", each["mem_limit"])] == []
    images = {each["image"] for each in services.values()} - {"extension-platform"}
    images |= set(re.findall(r"^FROM (\S+)", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE))
    assert [each for each in images if not re.search(r":v?\d+\.\d+", each)] == []


@pytest.mark.timed
def test_database_user_of_compose_owns_its_database_and_is_no_superuser() -> None:
    configs = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["configs"]
    script = configs["database"]["content"].replace("$$", "$")
    with skipped_if_missing(), servers.Postgres() as server:
        environment = os.environ | {
            "PATH": f"{server.programs}:{os.environ['PATH']}",
            "PGHOST": "127.0.0.1",
            "PGPORT": str(server.port),
            "POSTGRES_PASSWORD": "it's a secret",
        }
        with server.connect() as superuser:
            superuser.execute("ALTER ROLE postgres PASSWORD 'of the image'")
            checked("sh", "-e", "-c", script, env=environment)
            roles = superuser.execute(
                "SELECT rolname, rolsuper, rolpassword IS NULL FROM pg_authid WHERE rolcanlogin ORDER BY 1"
            ).fetchall()
        assert roles == [("platform", False, False), ("postgres", True, True)]
        url = server.url.replace("postgres@", "platform@")
        with psycopg.connect(f"{url}/platform") as platform:
            platform.execute("CREATE EXTENSION pg_trgm")  # as the first migration does
            platform.execute("CREATE TABLE public.some ()")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                platform.execute("SELECT pg_read_file('/etc/passwd')")


def test_commands_by_hand_have_the_settings_of_the_units() -> None:
    """All settings of ours are in one file, which the guide's `manage` reads as the same user with the same interpreter."""
    guide = (ROOT / "docs/several-machines.md").read_text()
    (by_hand,) = re.findall(r"^```sh manage\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    for file in (DEPLOY / "systemd").glob("*.service"):
        unit = dict(line.split("=", 1) for line in file.read_text().splitlines() if "=" in line)
        assert unit["Environment"] == "MALLOC_ARENA_MAX=1"
        assert f"runuser -u {unit['User']} " in by_hand
        assert f". {unit['EnvironmentFile']};" in by_hand
        assert f"exec {unit['ExecStart'].split()[1]} manage.py " in by_hand
        assert f"usually `{unit['WorkingDirectory']}`" in guide
    settings = (DEPLOY / "example.env").read_text()
    assert f"VAR_DIR='/var/lib/{unit['StateDirectory']}'" in settings


def test_compose_and_shells_read_the_settings_alike(compose: dict[str, Any]) -> None:
    names = re.findall(r"^([A-Z_]+)='", (DEPLOY / "example.env").read_text(), re.MULTILINE)
    assert {"DEFAULT_FROM_EMAIL", "STORES_URL", "VAR_DIR"} <= set(names)
    printed = checked(
        "sh", "-ac", '. "$0"; env', str(DEPLOY / "example.env"), env={"PATH": os.environ["PATH"]}
    )
    shell = dict(line.split("=", 1) for line in printed.splitlines())
    worker = compose["worker"]["environment"]
    assert {name: shell[name] for name in names} == {name: worker[name] for name in names}


def test_nginx_accepts_its_configuration(tmp_path: Path) -> None:
    program = tool("nginx")
    checked(
        tool("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=platform.example",
        "-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "certificate.pem"),
    )  # fmt: skip
    text = (DEPLOY / "nginx.conf").read_text()
    for before, after in {
        "/etc/tls/platform-and-stores.pem": str(tmp_path / "certificate.pem"),
        "/etc/tls/platform-and-stores.key": str(tmp_path / "key.pem"),
        "/var/cache/nginx": str(tmp_path),
        "server web": "server 127.0.0.",
    }.items():
        assert before in text, before
        text = text.replace(before, after)
    (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/nginx.pid;\n{text}")
    checked(program, "-t", "-p", str(tmp_path), "-e", "stderr", "-c", str(tmp_path / "nginx.conf"))


def healthy(*arguments: str, **environment: str) -> bool:
    command = [sys.executable, str(DEPLOY / "healthy.py"), *arguments]
    return subprocess.run(command, env=os.environ | environment, check=False, timeout=30).returncode == 0


@pytest.mark.timed
def test_container_is_healthy_while_it_answers() -> None:
    with Receiver() as server:
        assert healthy(f"{server.url}healthz")
        server.respond_with(Answer(status=503))
        assert not healthy(f"{server.url}healthz")
    assert not healthy(f"http://127.0.0.1:{free_port()}/healthz")


def test_container_is_healthy_with_a_fresh_heartbeat(tmp_path: Path) -> None:
    file = tmp_path / "heartbeat"
    assert not healthy(HEARTBEAT_FILE=str(file))
    file.touch()
    assert healthy(HEARTBEAT_FILE=str(file))
    old = time.time() - 31
    os.utime(file, (old, old))
    assert not healthy(HEARTBEAT_FILE=str(file))
