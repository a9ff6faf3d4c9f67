"""What operators read at `/metrics`, and who else does not."""

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import timedelta
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import URLResolver, get_resolver
from django.utils import timezone

from accounts.models import Business, User
from common.observability.metrics import ROOTS, root_of
from config.env.keys import metrics_token
from installations.models import Installation
from tests.clients import api_of
from tests.config.scraping import TOKEN, value
from tests.receivers import Answer, Receiver
from tests.storefront.shopping import STORES_HOST
from tests.webhooks.helpers import drain, publish, published, webhook
from webhooks.engine import slots
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]


def test_metrics_are_closed_without_a_token_in_the_settings(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    answer = client.get("/metrics", headers={"Authorization": "Bearer "})
    assert (answer.status_code, answer.json()["error"]) == (404, "Not Found")


@pytest.mark.parametrize("sent", [None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", "Bearer \xe9"])
def test_metrics_ask_for_the_token(operator: Client, sent: str | None) -> None:
    answer = Client(headers={} if sent is None else {"Authorization": sent}).get("/metrics")
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert answer.json()["statusCode"] == 401


def test_release_is_told_where_only_its_folder_is(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the guides and the image install it: nothing was installed by pip but what it needs."""

    def nothing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata.Distribution, "from_name", nothing)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert value(operator, f'extension_platform_info{{version="{project["version"]}"}}') == 1


def test_answers_are_counted_by_root_and_class(operator: Client) -> None:
    sample = 'extension_platform_http_answers_total{root="app-api",status="4xx"}'
    before = value(operator, sample)
    Client().get("/app-api/products")
    Client().get("/app-api/nothing")
    assert value(operator, sample) - before == 2


def test_deliveries_that_are_due_are_told(
    operator: Client, installation: Installation, sandbox: Business
) -> None:
    webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    assert value(operator, "extension_platform_deliveries_due") == 0
    publish(sandbox)
    publish(sandbox)
    Delivery.objects.update(due_at=timezone.now() - timedelta(minutes=5))
    assert value(operator, "extension_platform_deliveries_due") == 2
    assert 300 <= value(operator, "extension_platform_deliveries_oldest_due_seconds") < 310
    assert value(operator, "extension_platform_dispatchers") == 0
    assert slots.take()
    assert value(operator, "extension_platform_dispatchers") == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.timed
def test_each_step_of_a_delivery_has_its_time(
    operator: Client, installation: Installation, sandbox: Business
) -> None:
    names = "seen", "claimed", "prepared", "connected", "first_byte", "recorded"

    def read(what: str) -> dict[str, float]:
        sample = f"extension_platform_delivery_step_seconds_{what}"
        return {step: value(operator, f'{sample}{{step="{step}"}}') for step in names}

    counts, sums = read("count"), read("sum")
    with Receiver() as receiver:
        receiver.respond_with(Answer(delay=0.4))
        webhook(installation, receiver.url, ["order.created"])
        published(sandbox, now=timezone.now() - timedelta(seconds=30))
        began = monotonic()
        drain()
        took = monotonic() - began
    assert [read("count")[step] - counts[step] for step in names] == [1] * 6
    seconds = {step: total - sums[step] for step, total in read("sum").items()}
    assert all(each > 0 for each in seconds.values())
    assert 30 <= seconds.pop("seen") < 30 + took
    assert 0.4 <= seconds["first_byte"] < sum(seconds.values()) < took


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("/app-api/orders", "app-api"),
        ("/webhooks", "webhooks"),
        ("/", "home"),
        ("/x" * 50, "other"),
        ("", "home"),
    ],
)
def test_labels_are_few(path: str, root: str) -> None:
    assert root_of(path) == root


NOT_FOR_PEOPLE = {
    "healthz",
    "readyz",
    "metrics",
    "robots.txt",
    "llms.txt",
    "llms-full.txt",
    "sitemap.xml",
    "_styleguide",
    "_mails",
    "_demo",
}


def test_every_route_for_people_and_apps_has_a_class() -> None:
    """Alerts leave "other" out."""
    firsts = set(first_parts(get_resolver("config.urls").url_patterns))
    assert {first for first in firsts if root_of(f"/{first}") == "other"} == NOT_FOR_PEOPLE
    assert firsts | {"static"} >= ROOTS


def first_parts(patterns: Any, before: str = "") -> Iterator[str]:
    for each in patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from first_parts(each.url_patterns, route)
        elif found := re.match(r"\^?([\w.-]+)", route):
            yield found[1]


def test_long_polls_of_listeners_are_a_class_of_their_own(
    operator: Client, dana: User, installation: Installation
) -> None:
    seconds = 'extension_platform_http_seconds_count{root="%s"}'
    before = {root: value(operator, seconds % root) for root in ("developer", "listener")}
    path = f"/developer/apps/{installation.app_id}/listener"
    api = api_of(dana)
    listener = api("post", path, {}).json()["listenerId"]
    assert api("post", f"{path}/{listener}/work", {"wait": 0}).status_code == 200
    assert value(operator, seconds % "developer") == before["developer"] + 1
    assert value(operator, seconds % "listener") == before["listener"] + 1


def test_weak_token_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICS_TOKEN", "short")
    with pytest.raises(ImproperlyConfigured, match="METRICS_TOKEN is weak"):
        metrics_token(debug=False)
    assert metrics_token(debug=True) == "short"


@pytest.mark.slow  # a process of its own
def test_processes_that_share_a_directory_are_added_up(tmp_path: Path) -> None:
    """As gunicorn's workers do; each line below is a process of its own."""
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    count = "from common.observability.metrics import ANSWERS; ANSWERS.labels('auth', '2xx').inc()"
    show = "from common.observability.exposition import text; print(text().decode())"
    start = "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; django.setup(); "
    for code in (count, count):
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    shown = subprocess.run(
        [sys.executable, "-c", start + show], env=environment, check=True, capture_output=True, text=True
    )
    assert 'extension_platform_http_answers_total{root="auth",status="2xx"} 2.0' in shown.stdout


@pytest.mark.slow  # a process of its own
@pytest.mark.parametrize("space", ["4k", "132k"], ids=["of none", "until a file grows"])
def test_full_disk_ends_no_process(tmp_path: Path, space: str) -> None:
    if subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("makes a mount namespace, which isn't allowed here")
    count = """
from common.observability.metrics import ANSWERS
labels = [(f"root {number}", f"{number}xx") for number in range(2000)]
for each in labels * 2:
    ANSWERS.labels(*each).inc()
assert all(ANSWERS.labels(*each)._value._file.read_value(ANSWERS.labels(*each)._value._key)[0] == 2 for each in labels)
"""
    mounted = f'mount -t tmpfs -o size={space} none "$0" && exec "$@"'
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    command = ["unshare", "--mount", "sh", "-c", mounted, str(tmp_path), sys.executable, "-c", count]
    ended = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_answers_of_stores_are_counted_apart(operator: Client, shop: Business) -> None:
    """On a store's own host no path tells."""
    counted = 'extension_platform_http_answers_total{root="store",status="2xx"}'
    before = value(operator, counted)
    Client(SERVER_NAME=STORES_HOST).get(f"/store/{shop.slug}/")
    assert value(operator, counted) == before + 1
