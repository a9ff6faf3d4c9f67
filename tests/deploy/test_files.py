"""What operators start from (`deploy/`): each file is checked by the tool that reads it."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands

from config.env.keys import is_weak
from tests.deploy.files import DEPLOY, ROOT, checked, documented, healthy, tool
from tests.deploy.restricted import unit_settings
from tests.faults.servers import skipped_if_missing
from tests.ports import free_port
from tests.receivers import Answer, Receiver
from tools import servers

OF_COMPOSE = {"RELEASE"}


def test_dockerfile_has_no_finding() -> None:
    checked(tool("hadolint"), str(DEPLOY / "Dockerfile"))


@pytest.fixture
def compose(tmp_path: Path) -> dict[str, Any]:
    """The services, as Docker Compose understands them."""
    program = tool("docker-compose")
    for name in ("compose.yaml", "example.env"):
        shutil.copy(DEPLOY / name, tmp_path)
    (tmp_path / "example.env").rename(tmp_path / ".env")
    made = subprocess.run(
        [program, "--file", str(tmp_path / "compose.yaml"), "config", "--format", "json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    services: dict[str, Any] = json.loads(made.stdout)["services"]
    return services


def test_compose_starts_two_of_everything_that_serves_and_works(compose: dict[str, Any]) -> None:
    replicas = {name: each["deploy"].get("replicas", 1) for name, each in compose.items() if "deploy" in each}
    assert {name for name, count in replicas.items() if count == 2} == {"worker", "scheduler"}
    ours = of_platform(compose)
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
        environment = each["environment"]
        pooled = environment["DATABASE_URL_FILE"].endswith("_OF_WEB")
        assert pooled is (environment.get("DATABASE_POOLER") == "transaction") is name.startswith("web")
        assert not {name for name in environment if f"{name}_FILE" in environment}
        given = {secret["target"] for secret in each["secrets"]}
        read = {path for name, path in environment.items() if name.endswith("_FILE")}
        assert read == given
    assert all("healthcheck" in each for each in (compose["worker"], compose["scheduler"]))


def test_proxy_of_compose_knows_each_web_server_by_an_address_that_stays(compose: dict[str, Any]) -> None:
    named = set(re.findall(r"server (web\d):8000", (DEPLOY / "nginx.conf").read_text()))
    assert named == {name for name in compose if name.startswith("web")}
    addresses = {name: compose[name]["networks"]["default"]["ipv4_address"] for name in named}
    assert dict(host.split("=") for host in compose["proxy"]["extra_hosts"]) == addresses


def test_containers_can_do_little_and_take_little(compose: dict[str, Any]) -> None:
    """A fault or an intruder in one of them leaves memory, processors, processes and disk to the others."""
    for name, each in compose.items():
        assert each["cap_drop"] == ["ALL"], name
        assert each["security_opt"] == ["no-new-privileges:true"], name
        assert each["read_only"], name
        assert all("size=" in path for path in each["tmpfs"]), name
        assert 0 < each["pids_limit"] <= 512, name
        assert 0 < each["cpus"] <= 2, f"{name}: Docker starts nothing with more than the machine has."
        assert int(each["mem_limit"]) <= 4 * 1024**3, name
        assert set(each["logging"]["options"]) == {"max-size", "max-file"}, name
    assert {name: each["cap_add"] for name, each in compose.items() if "cap_add" in each} == {
        "proxy": ["CHOWN", "DAC_READ_SEARCH", "NET_BIND_SERVICE", "SETGID", "SETUID"]
    }


def test_sessions_of_compose_fit_into_pooler_and_database(compose: dict[str, Any]) -> None:
    """A thread has one, and so does each web process' log of API calls (docs/several-machines.md)."""
    pool = ini(DEPLOY / "compose/pgbouncer.ini")
    web = [each["environment"] for name, each in compose.items() if name.startswith("web")]
    of_web = sum(int(each["WEB_PROCESSES"]) * (int(each["WEB_THREADS"]) + 1) for each in web)
    assert of_web <= int(pool["max_client_conn"])
    text = (DEPLOY / "compose.yaml").read_text()
    assert f"With both servers these are {of_web} of\n      # the {pool['max_client_conn']} that" in text
    (limit,) = [word.split("=")[1] for word in compose["postgres"]["command"] if word.startswith("max_conn")]
    direct = sum(compose[name]["deploy"]["replicas"] for name in ("worker", "scheduler"))
    assert int(pool["default_pool_size"]) + direct * (settings.WORKER_THREADS + 1) < int(limit)
    for each in web:
        assert int(each["WEB_PROCESSES"]) * 430 < 2048, "Pictures of 25 megapixels, one in each process."


def test_addresses_alone_differ_between_the_poolers() -> None:
    of_systemd, of_compose = ini(DEPLOY / "pgbouncer.ini"), ini(DEPLOY / "compose/pgbouncer.ini")
    assert of_systemd | {"platform": "", "listen_addr": ""} == of_compose | {
        "platform": "",
        "listen_addr": "",
    }


def ini(file: Path) -> dict[str, str]:
    return dict(re.findall(r"^(\w+) = (.*)$", file.read_text(), re.MULTILINE))


def of_platform(services: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in services.items() if each["image"].startswith("extension-platform:")}


def test_compose_keeps_the_image_of_each_release(compose: dict[str, Any]) -> None:
    (release,) = re.findall(r"^RELEASE='(.+)'$", (DEPLOY / "example.env").read_text(), re.MULTILINE)
    assert {each["image"] for each in of_platform(compose).values()} == {f"extension-platform:{release}"}


def test_compose_without_a_release_says_what_to_set(tmp_path: Path) -> None:
    program = tool("docker-compose")
    shutil.copy(DEPLOY / "compose.yaml", tmp_path)
    (tmp_path / ".env").touch()
    refused = subprocess.run(
        [program, "--file", str(tmp_path / "compose.yaml"), "config", "--quiet"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "RELEASE is missing a value: Set it in deploy/.env" in refused.stderr


def test_secrets_are_made_once_and_fit_together(tmp_path: Path, compose: dict[str, Any]) -> None:
    folder = tmp_path / "secrets"
    command = [sys.executable, str(DEPLOY / "make_secrets.py"), "--compose", str(folder)]
    assert checked(*command) == f"Fill in, in {folder}: EMAIL_URL.\n"
    found = {file.name: file.read_text() for file in folder.iterdir()}
    listed = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["secrets"]
    assert set(found) == set(listed)
    assert {each["file"] for each in listed.values()} == {f"./secrets/{name}" for name in found}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(base64.urlsafe_b64decode(found["FIELD_ENCRYPTION_KEYS"])) == 32
    assert not any(map(is_weak, (found["SECRET_KEY"], found["METRICS_TOKEN"])))
    password, services = found["DATABASE_PASSWORD"], compose.keys()
    for name, server in (("DATABASE_URL", "postgres"), ("DATABASE_URL_OF_WEB", "pgbouncer")):
        url = urlsplit(found[name])
        assert (url.username, url.password, url.hostname) == ("platform", password, server)
        assert server in services
    assert found["userlist.txt"] == f'"platform" "{password}"\n'
    assert json.loads(found["s3.json"])["identities"][0]["credentials"] == [
        {"accessKey": "platform", "secretKey": found["AWS_SECRET_ACCESS_KEY"]}
    ]
    (folder / "EMAIL_URL").write_text("dummymail://")
    assert checked(*command) == ""
    assert {file.name: file.read_text() for file in folder.iterdir()} == found | {"EMAIL_URL": "dummymail://"}


def test_settings_of_deploy_are_documented() -> None:
    named = set(re.findall(r"^#?([A-Z_]+)=", (DEPLOY / "example.env").read_text(), re.MULTILINE))
    assert named - OF_COMPOSE <= documented()
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    assert {"BIND", "HEARTBEAT_FILE", "VAR_DIR"} <= documented() & set(re.findall(r"([A-Z_]+)=", dockerfile))


def test_every_service_of_compose_has_a_limit_of_memory_and_an_exact_version() -> None:
    services: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert [name for name, each in services.items() if not re.fullmatch(r"\d+[mg]", each["mem_limit"])] == []
    images = {each["image"] for name, each in services.items() if name not in of_platform(services)}
    images |= set(re.findall(r"^FROM (\S+)", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE))
    assert [each for each in images if not re.search(r":v?\d+\.\d+", each)] == []


@pytest.mark.long
@pytest.mark.timed
def test_database_user_of_compose_owns_its_database_and_is_no_superuser() -> None:
    script = (DEPLOY / "compose/database.sh").read_text()
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


@pytest.mark.parametrize(
    ("options", "mode"), [((), 0o600), (("--compose",), 0o644)], ids=["systemd", "compose"]
)
def test_folder_of_secrets_is_its_owners(tmp_path: Path, options: tuple[str, ...], mode: int) -> None:
    """Docker mounts each file as it is; systemd and kubectl read them as root or as their owner."""
    folder = tmp_path / "secrets"
    folder.mkdir(mode=0o755)
    (folder / "EMAIL_URL").write_text("dummymail://\n")
    (folder / "EMAIL_URL").chmod(0o666)
    checked(sys.executable, str(DEPLOY / "make_secrets.py"), *options, str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {mode}
    assert (folder / "EMAIL_URL").read_text() == "dummymail://\n"


def test_commands_by_hand_have_the_settings_of_the_units() -> None:
    """All settings of ours are in one file, which the guide's `manage` reads as the same user with the same interpreter."""
    guide = (ROOT / "docs/several-machines.md").read_text()
    (by_hand,) = re.findall(r"^```sh manage\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    for file in (DEPLOY / "systemd").glob("*.service"):
        unit = dict(line.split("=", 1) for line in file.read_text().splitlines() if "=" in line)
        assert unit["Environment"] == "MALLOC_ARENA_MAX=1"
        assert f"runuser -u {unit['User']} -- {unit['ExecStart'].split()[1]} manage.py " in by_hand
        assert f". {unit['EnvironmentFile']}\n" in by_hand
        assert f"usually `{unit['WorkingDirectory']}`" in guide
    settings = (DEPLOY / "example.env").read_text()
    (folder,) = unit_settings("web")["StateDirectory"]
    assert f"VAR_DIR='/var/lib/{folder}'" in settings


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


@pytest.mark.timed
def test_container_is_healthy_while_it_answers() -> None:
    with Receiver() as server:
        assert healthy(f"{server.url}healthz")
        server.respond_with(Answer(status=503))
        assert not healthy(f"{server.url}healthz")
    assert not healthy(f"http://127.0.0.1:{free_port()}/healthz")


@pytest.mark.long
def test_container_is_healthy_with_a_fresh_heartbeat(tmp_path: Path) -> None:
    file = tmp_path / "heartbeat"
    assert not healthy(HEARTBEAT_FILE=str(file))
    file.touch()
    assert healthy(HEARTBEAT_FILE=str(file))
    old = time.time() - 31
    os.utime(file, (old, old))
    assert not healthy(HEARTBEAT_FILE=str(file))
