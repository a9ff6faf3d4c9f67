"""The harnesses for tests on a test store, in Python and for Node, where the platform or the app is in trouble."""

import base64
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.receivers import Answer, Receiver
from tests.sdk.harness.platform import DELIVERY, HOOK_CALL, FakePlatform, Reply, work
from tests.sdk.node_tools import node_version
from tools.sdk_types import SDK

pytestmark = [pytest.mark.timed, pytest.mark.long]

APPS = [
    {"id": "a-1", "slug": "one", "name": "two", "scopes": []},
    {"id": "a-2", "slug": "two", "name": "Two", "scopes": []},
]
FILE = "extension-platform.json"
PYTHON = """
import sys
from extension_platform_sdk.testing import TestPlatform
port, event = sys.argv[1:]
with TestPlatform.from_environment() as platform, platform.open_store(port=int(port)) as store:
    if event:
        print(store.wait_for(event, timeout=1)["id"])
"""
NODE = """
import { openStore } from "TESTING";
const [port, event] = process.argv.slice(-2);
const after = [];
try {
  const store = await openStore({ after: (work) => after.push(work) }, { port: Number(port) });
  if (event) console.log((await store.waitFor(event, { timeout: 1 })).id);
} finally {
  for (const work of after) await work();
}
"""
ACTS = {
    "python": """
kim = {"email": "kim@example.com"}
with TestPlatform.from_environment() as platform, platform.open_store(port=int(port)) as store:
    placed = store.place_order(**kim, product="p-1", quantity=2)
    store.place_order()
    store.erase(**kim)
    print(placed["data"]["orderId"], store.install().installation_id, store.installation.access_token)
""",
    "node": """
const kim = { email: "kim@example.com" };
try {
  const store = await openStore({ after: (work) => after.push(work) }, { port: Number(port) });
  const placed = await store.placeOrder({ ...kim, product: "p-1", quantity: 2 });
  await store.placeOrder();
  await store.erase(kim);
  console.log(placed.data.orderId, (await store.install()).installationId, store.installation.accessToken);
} finally {
  for (const work of after) await work();
}
""",
}
Harness = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def platform() -> Iterator[FakePlatform]:
    with FakePlatform(APPS) as running:
        yield running


@pytest.fixture
def app() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture(params=["python", "node"])
def harness(request: pytest.FixtureRequest, platform: FakePlatform, app: Receiver, tmp_path: Path) -> Harness:
    """Opens a store, waits for an event if one is given, and ends."""
    if request.param == "node" and node_version() < 20:
        pytest.skip("needs Node 20 or newer")
    node = [
        "node",
        "--input-type=module",
        "-e",
        NODE.replace("TESTING", (SDK / "node" / "testing.js").as_uri()),
    ]
    command = [sys.executable, "-c", PYTHON] if request.param == "python" else [*node, "--"]

    def run(
        event: str = "", *, folder: Path = tmp_path, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        given = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SDK / "python"),
            "EXTENSION_PLATFORM_URL": platform.url,
            "EXTENSION_PLATFORM_TOKEN": "fbdt_test",
            "EXTENSION_PLATFORM_APP": "a-1",
        }
        return subprocess.run(
            [*command, str(app.port), event],
            cwd=folder,
            env=given | environment,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


@pytest.mark.parametrize("language", ["python", "node"])
def test_test_says_who_orders_and_is_erased(platform: FakePlatform, tmp_path: Path, language: str) -> None:
    if language == "node" and node_version() < 20:
        pytest.skip("needs Node 20 or newer")
    begin = {"python": PYTHON.partition("with ")[0], "node": NODE.partition("try ")[0]}[language]
    program = begin.replace("TESTING", (SDK / "node" / "testing.js").as_uri()) + ACTS[language]
    command = [sys.executable, "-c"] if language == "python" else ["node", "--input-type=module", "-e"]
    done = subprocess.run(
        [*command, program, *(["--"] if language == "node" else []), "3000", ""],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SDK / "python"),
            "EXTENSION_PLATFORM_URL": platform.url,
            "EXTENSION_PLATFORM_TOKEN": "fbdt_test",
            "EXTENSION_PLATFORM_APP": "a-1",
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "o-1 i-2 fbat_again\n"), done.stderr
    kim = {"email": "kim@example.com"}
    first, second, erasure = [each.body for each in platform.to("changes")]
    assert first == {"event": "order.created", "customer": kim, "productId": "p-1", "quantity": 2}
    assert {name: value for name, value in second.items() if name != "quantity"} == {"event": "order.created"}
    assert erasure == {"event": "customer.data_erasure", "customer": kim}


def test_token_is_sent_to_no_other_machine_unencrypted(harness: Harness, platform: FakePlatform) -> None:
    failed = harness(EXTENSION_PLATFORM_URL="http://platform.example")
    assert failed.returncode == 1
    assert "http://platform.example would send your token unencrypted. Use https" in failed.stderr


def test_app_is_found_by_id_then_slug_then_name(
    harness: Harness, platform: FakePlatform, tmp_path: Path
) -> None:
    """And by the file of a folder above; an empty variable names none."""
    (tmp_path / FILE).write_text(json.dumps({"app": "a-2"}))
    inner = tmp_path / "tests" / "stores"
    inner.mkdir(parents=True)
    assert harness(EXTENSION_PLATFORM_APP="two").returncode == 0
    assert harness(EXTENSION_PLATFORM_APP="Two").returncode == 0
    assert harness(EXTENSION_PLATFORM_APP="", folder=inner).returncode == 0
    assert {each.path for each in platform.to("test-stores")} == {"/developer/apps/a-2/test-stores"}
    assert "You have no app three. Your apps: one, two." in harness(EXTENSION_PLATFORM_APP="three").stderr
    (inner / FILE).write_text("a-2")
    assert f"{inner / FILE} must be a JSON object" in harness(EXTENSION_PLATFORM_APP="", folder=inner).stderr


def test_limit_is_named_and_waited_out(harness: Harness, platform: FakePlatform) -> None:
    limited = {
        "statusCode": 429,
        "message": "Too many developers are listening.",
        "error": "Too Many Requests",
    }
    platform.replies["listener"] = [Reply(429, limited, retry_after=1)] * 2
    done = harness()
    assert (
        done.returncode,
        done.stderr.count("Too many developers are listening. Trying again in 1 s."),
    ) == (0, 2)
    first, second, third = [each.at for each in platform.to("listener")]
    assert min(second - first, third - second) >= 1


def test_lost_listener_begins_again_however_long_that_fails(harness: Harness, platform: FakePlatform) -> None:
    platform.replies["listener"] = [
        Reply(201, {"listenerId": "L1"}),
        Reply(503),
        Reply(502),
        Reply(201, {"listenerId": "L2"}),
    ]
    platform.replies["work"] = [
        Reply(404, {"message": "This listener has ended."}),
        work(deliveries=[DELIVERY]),
    ]
    done = harness("order.created")
    assert (done.returncode, done.stdout) == (0, "d-1\n"), done.stderr
    assert [each.path.split("/")[-2] for each in platform.to("answers")] == ["L2"]


def test_report_waits_for_a_limit_and_an_outage(harness: Harness, platform: FakePlatform) -> None:
    """Without it, the platform would resend what the app has accepted."""
    platform.replies["work"] = [work(deliveries=[DELIVERY])]
    platform.replies["answers"] = [Reply(429, {"message": "Slow down."}, retry_after=0), Reply(503)]
    done = harness("order.created")
    assert (done.returncode, done.stdout) == (0, "d-1\n"), done.stderr


def test_end_of_a_test_waits_for_no_platform(harness: Harness, platform: FakePlatform) -> None:
    platform.replies["work"] = [Reply(429, {"message": "Slow down."}, retry_after=60)] * 9
    began = time.monotonic()
    assert harness().returncode == 0
    assert time.monotonic() - began < 15
    assert [each.path for each in platform.asked if each.method == "DELETE"] == [
        "/developer/apps/a-1/listener/L1",
        "/developer/test-stores/s-1",
    ]


def test_failure_says_what_was_expected_and_what_came(
    harness: Harness, platform: FakePlatform, app: Receiver
) -> None:
    app.respond_with(503)
    platform.replies["work"] = [work(deliveries=[DELIVERY]), work(deliveries=[DELIVERY | {"lease": "d-1:2"}])]
    failed = harness("order.created")
    assert failed.returncode == 1
    expected = "Expected a delivery of order.created that your app accepts. Nothing more arrived for 1 s."
    assert (
        f"{expected} Your app's responses, without those that an earlier wait returned:\n  order.created: 503, 503\n"
        in failed.stderr
    )


def _stalled(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\nhalf")
    time.sleep(3)


def _endless(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    try:
        while True:
            connection.sendall(b"x" * 65536)
    except OSError:
        pass


@pytest.mark.parametrize(("script", "length"), [(_stalled, 4), (_endless, 64 * 1024)])
def test_answer_that_does_not_end_is_its_status_and_beginning(
    harness: Harness, platform: FakePlatform, app: Receiver, script: Any, length: int
) -> None:
    app.respond_with(Answer(script=script))
    platform.replies["work"] = [work(calls=[HOOK_CALL | {"timeoutMs": 500}])]
    harness("no.such")
    (answer,) = platform.answers("hookCalls")
    assert (answer["httpStatus"], answer["truncated"]) == (200, True)
    assert len(base64.b64decode(answer["body"])) == length
    assert answer["durationMs"] < 2000
