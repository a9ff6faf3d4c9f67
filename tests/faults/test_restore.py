"""PostgreSQL backed up and restored with deploy/pgbackrest, by the commands of docs/operations-run.md."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import pytest
import trustme
from django.db import connection
from django.test import Client

from accounts.models import Business
from config.models import BackupRecord
from installations.models import Installation
from stores.models import Order
from tests import factories
from tests.config.scraping import value
from tests.faults.processes import ROOT, Processes, database_url
from tests.faults.servers import BackedUp, in_database_of
from tests.object_storage import BUCKET, CREDENTIALS, ObjectServer
from tests.ports import free_port
from tests.receivers import Receiver
from tests.webhooks.helpers import drain, publish, webhook
from tools.backups import block
from webhooks.models import Delivery, Event

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

FIRST_DELIVERY = 300.0  # seconds, promised
PASSWORD = "of-the-role"
ADDRESSES = {
    "BASE_URL": "https://platform.example",
    "STORES_URL": "https://{slug}.stores.example",
    "EMAIL_URL": "dummymail://",
    "REDIS_URL": "memory://",
}


@pytest.fixture
def backed_up(transactional_db: None) -> Iterator[BackedUp]:
    """The test's database in a cluster of its own, with a first backup."""
    with BackedUp() as server, in_database_of(server):
        server.do(block("first-backup"), PGDATABASE="faults")
        yield server


def now_of_database() -> Any:
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        return cursor.fetchone()[0]


@pytest.mark.fault(27)
def test_cluster_restored_to_before_a_mistake_sends_what_was_due_then(
    backed_up: BackedUp,
    processes: Processes,
    receiver: Receiver,
    sandbox: Business,
    installation: Installation,
    settings: Any,
) -> None:
    webhook(installation, receiver.url, ["order.created"])
    old = factories.order(sandbox)
    backed_up.do("back-up incr", PGDATABASE="faults")

    publish(sandbox)
    drain()
    receiver.wait_for(1)
    due = publish(sandbox)  # nothing runs that would send it
    recent = factories.order(sandbox)
    time.sleep(0.1)
    moment = now_of_database()
    time.sleep(0.1)
    publish(sandbox)
    token = {"Authorization": f"Bearer {installation.raw_token}"}  # type: ignore[attr-defined]
    cursor_of_before = Client().get("/app-api/events", headers=token).json()["nextCursor"]
    Order.objects.all().delete()  # the mistake
    backed_up.do("pgbackrest --stanza=platform check")  # everything until now is archived

    connection.close()
    began = time.monotonic()
    backed_up.crash()
    backed_up.restore(moment.isoformat(sep=" "))
    settings.FEED_EPOCH = 1
    processes.deliver(FEED_EPOCH="1")
    arrived = receiver.wait_for(2, timeout=60)
    assert time.monotonic() - began < FIRST_DELIVERY

    assert set(Order.objects.values_list("pk", flat=True)) == {old.pk, recent.pk}
    assert due is not None
    assert [each.headers["x-webhook-event-uid"] for each in arrived][1:] == [str(due.pk)]
    assert Event.objects.count() == Delivery.objects.count() == 2  # the third came after the moment
    assert not Event.objects.filter(occurred_at__gt=moment + timedelta(seconds=1)).exists()
    refused = Client().get(f"/app-api/events?after={cursor_of_before}", headers=token)
    assert refused.status_code == 410


TLS = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_max_body_size 0;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {folder}/server.pem;
        ssl_certificate_key {folder}/server.pem;
        location / {{
            proxy_pass {endpoint};
            proxy_set_header Host $http_host;
        }}
    }}
}}
"""


@pytest.fixture
def bucket() -> Iterator[ObjectServer]:
    with ObjectServer() as server:
        yield server


@pytest.fixture
def in_bucket(bucket: ObjectServer, tmp_path: Path) -> Iterator[BackedUp]:
    """A cluster with its backups there, by TLS, and tables like the platform's."""
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not installed")
    authority, port = trustme.CA(), free_port()
    own = authority.issue_cert("localhost")  # pgBackRest knows no addresses in certificates
    own.private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    configuration = tmp_path / "nginx.conf"
    configuration.write_text(TLS.format(folder=tmp_path, port=port, endpoint=bucket.endpoint))
    places = {
        "s3_endpoint": "localhost",
        "storage_port": str(port),
        "s3_uri_style": "path",
        "s3_bucket": BUCKET,
        "s3_key": CREDENTIALS["AWS_ACCESS_KEY_ID"],
        "s3_key_secret": CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    }
    cluster = BackedUp("s3", **{f"repo1_{name}": value for name, value in places.items()})
    authority.cert_pem.write_to_path(cluster.directory / "authority.pem")
    cluster.environment["PGBACKREST_REPO1_STORAGE_CA_FILE"] = f"{cluster.directory}/authority.pem"
    nginx = subprocess.Popen(["nginx", "-e", "stderr", "-p", str(tmp_path), "-c", str(configuration)])
    try:
        with cluster:
            with cluster.connect() as session:
                session.execute("CREATE DATABASE platform")
            with cluster.connect("platform") as session:
                session.execute("CREATE TABLE config_backuprecord (what text PRIMARY KEY, at timestamptz)")
            yield cluster
    finally:
        nginx.terminate()
        nginx.wait(10)


SECRET = "a name that is not to be read in a bucket"


@pytest.mark.fault(40)
def test_bucket_has_encrypted_backups_for_as_long_as_they_are_kept_and_the_newest_commit(
    bucket: ObjectServer, in_bucket: BackedUp
) -> None:
    with in_bucket.connect("platform") as session:
        session.execute(f"CREATE TABLE kept AS SELECT '{SECRET}' AS name")
        in_bucket.do(block("first-backup"))
        first = recorded(session)
        session.execute("INSERT INTO kept SELECT name FROM kept")
        in_bucket.do("back-up incr")
        assert recorded(session) > first
        session.execute("INSERT INTO kept VALUES ('in the log only')")
    contents = [bucket.read(name) for name in bucket.stored()]
    assert contents
    assert all(each.startswith(b"Salted__") for each in contents)

    in_bucket.crash()
    in_bucket.restore()
    with in_bucket.connect("platform") as session:
        assert session.execute("SELECT count(*) FROM kept").fetchone() == (3,)
    before = backups_in(in_bucket)
    in_bucket.do("pgbackrest --stanza=platform --type=full --repo1-retention-full=1 backup")
    assert (len(before), len(backups_in(in_bucket))) == (2, 1)
    assert not before & backups_in(in_bucket)


def recorded(session: Any) -> Any:
    return session.execute("SELECT at FROM config_backuprecord WHERE what = 'backup'").fetchone()[0]


def backups_in(cluster: BackedUp) -> set[str]:
    return set(re.findall(r"(?:full|incr) backup: (\S+)", cluster.do("pgbackrest info")))


# A restore for a try


@pytest.fixture
def drill(backed_up: BackedUp, installation: Installation, tmp_path: Path, settings: Any) -> Iterator[Any]:
    """Runs `deploy/pgbackrest/restore-drill` as root, with the files of an installation whose role has a password, and no other
    settings.
    """
    if os.geteuid() != 0:
        pytest.skip("runs commands as several users, which only root may")
    backed_up.connect().execute(f"ALTER ROLE postgres PASSWORD '{PASSWORD}'")
    backed_up.do("back-up incr", PGDATABASE="faults")
    file, folder = tmp_path / "environment", tmp_path / "secrets"
    folder.mkdir()

    def run() -> "subprocess.CompletedProcess[str]":
        named = ADDRESSES | {"VAR_DIR": os.environ["VAR_DIR"]}
        file.write_text("".join(f"{name}='{text}'\n" for name, text in named.items()))
        secrets = {
            "DATABASE_URL": re.sub("//[^@/]*@", f"//postgres:{PASSWORD}@", database_url()),
            "SECRET_KEY": token_urlsafe(48),
            "FIELD_ENCRYPTION_KEYS": ",".join(settings.FIELD_ENCRYPTION_KEYS),
            "SENTRY_DSN": "",
        }
        for name, text in secrets.items():
            (folder / name).write_text(f"{text}\n")
        return subprocess.run(
            ["bash", "-euc", block("drill").replace("/var/lib/postgresql", str(backed_up.directory))],
            env=backed_up.environment
            | {
                "ENVIRONMENT": str(file),
                "SECRETS": str(folder),
                "PLATFORM_USER": "root",
                "PORT": str(free_port()),
            },
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


@pytest.mark.fault(43)
def test_drill_restores_the_newest_backup_and_says_how_old_and_how_long(
    drill: Any,
    backed_up: BackedUp,
    sandbox: Business,
    operator: Client,
) -> None:
    factories.order(sandbox)
    backed_up.do("pgbackrest --stanza=platform check")
    done = drill()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "installations.Installation: 1 secrets can be decrypted." in done.stdout
    assert "stores.Order: 1 rows." in done.stdout
    assert re.search(r"The newest row is from .*, 0:00:\d\d(\.\d+)? before the restore began\.", done.stdout)
    assert "Restored and checked in 0:" in done.stdout
    assert not list(backed_up.directory.glob("restore-drill-*")), "The copy is removed."
    assert 0 < value(operator, "extension_platform_restore_drill_age_seconds") < 120
    assert 0 < value(operator, "extension_platform_backup_age_seconds") < 120
    assert 0 < value(operator, "extension_platform_wal_archive_age_seconds") < 120
    assert value(operator, "extension_platform_wal_archive_failures_total") == 0


@pytest.mark.fault(43)
def test_drill_fails_with_a_damaged_backup(drill: Any, backed_up: BackedUp) -> None:
    for file in backed_up.repository.glob("backup/platform/*F/bundle/*"):
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    done = drill()
    assert done.returncode != 0
    # The step that finds it depends on the byte: decrypting, its end, decompressing, or the checksum of the file.
    assert re.search("cipher|CryptoError|corruption|checksum", done.stdout + done.stderr)
    assert not BackupRecord.objects.filter(what=BackupRecord.What.DRILL).exists()
