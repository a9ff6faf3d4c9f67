"""Endpoints that stall, flood, redirect, lead inside or hang up (scenarios 11 to 15), with the real deadlines."""

import gzip
import json
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from accounts.models import Business
from installations.models import Installation
from tests.faults.deliveries import Listen, all_delivered, at, ids
from tests.faults.processes import Processes
from tests.receivers import Answer, Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import publish, published, wait_until
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

Script = Callable[[socket.socket], None]
PUBLIC = "93.184.216.34"


def wait_for_attempts(count: int, timeout: float) -> None:
    wait_until(lambda: Attempt.objects.count() >= count, timeout)


def drips(head: bytes, hung_up: threading.Event) -> Script:
    """A script that sends `head`, then a byte now and then, for twelve seconds or until the other side is gone."""

    def script(connection: socket.socket) -> None:
        connection.sendall(head)
        for _ in range(60):
            readable, _, _ = select.select([connection], [], [], 0.2)
            if readable:
                hung_up.set()
                return
            connection.sendall(b"a")

    return script


@pytest.mark.fault(11, "total deadline", "budget of a look-up", "success by the status alone")
def test_endpoints_that_stall_are_given_up_at_the_deadline(
    processes: Processes, installation: Installation, sandbox: Business
) -> None:
    hung_up = threading.Event()
    dripping_body = Answer(
        script=drips(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegin", hung_up=hung_up)
    )
    dripping_head = Answer(script=drips(b"HTTP/1.1 200 OK\r\nX-Slow: ", hung_up=threading.Event()))
    with Receiver() as head, Receiver() as body, socket.create_server(("127.0.0.1", 0)) as silent:
        head.respond_with(dripping_head)
        body.respond_with(dripping_body)
        urls = {
            "head": head.url,
            "body": body.url,
            "tls": f"https://127.0.0.1:{silent.getsockname()[1]}/",
            "name": "http://stalls.test/",
        }
        webhooks = {name: helpers.webhook(installation, url, ["order.created"]) for name, url in urls.items()}
        publish(sandbox)
        names = {"stalls.test": {"answers": [[PUBLIC]], "delay": 12}}
        processes.deliver(FAULT_NAMES=json.dumps(names))
        wait_for_attempts(4, timeout=40)
        assert hung_up.wait(2)
    attempts = {name: Attempt.objects.get(delivery__webhook=webhook) for name, webhook in webhooks.items()}
    assert {name: attempt.error_class for name, attempt in attempts.items()} == {
        "head": "timeout_response",
        "body": "",
        "tls": "timeout_connect",
        "name": "dns",
    }
    assert attempts["body"].http_status == 200
    assert attempts["body"].response_excerpt.startswith("begina")
    for name, seconds in (("head", 10), ("body", 10), ("tls", 10), ("name", 5)):
        assert seconds * 1000 <= attempts[name].duration_ms <= seconds * 1000 + 500, name
    statuses = dict(Delivery.objects.values_list("webhook", "status"))
    assert statuses == {
        webhook.id: DeliveryStatus.SUCCEEDED if name == "body" else DeliveryStatus.RETRYING
        for name, webhook in webhooks.items()
    }


def floods(head: bytes, piece: bytes) -> Script:
    """A script that sends a gigabyte, as long as somebody reads."""

    def script(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n")
        for _ in range(2**30 // len(piece)):
            connection.sendall(piece)

    return script


@pytest.mark.fault(12, "end of reading at 16 KiB", "answers left packed")
def test_64_hostile_answers_at_once_take_little_memory(
    processes: Processes, listen: Listen, receiver: Receiver, sandbox: Business
) -> None:
    bomb = gzip.compress(bytes(200_000_000), compresslevel=1)
    packed = {"Content-Encoding": "gzip"}
    listen(receiver.url, 64)
    publish(sandbox)
    dispatcher = processes.deliver()
    wait_until(all_delivered, timeout=40)
    before = dispatcher.peak_memory()

    piece = b"x" * 2**15
    huge = Answer(script=floods(b"Content-Length: 1073741824", piece))
    endless = Answer(script=floods(b"Transfer-Encoding: chunked", b"8000\r\n" + piece + b"\r\n"))
    receiver.respond_with(*[huge] * 22, *[endless] * 21, *[Answer(body=bomb, headers=packed)] * 21)
    publish(sandbox)
    wait_for_attempts(128, timeout=30)
    grown = dispatcher.peak_memory() - before
    assert all_delivered()
    assert grown < 64 * 1024, f"{grown} KiB"
    excerpts = Attempt.objects.filter(delivery__event=Delivery.objects.latest("id").event_id)
    kept = [len(attempt.response_excerpt) for attempt in excerpts]
    assert len(kept) == 64
    assert 0 < min(kept) <= max(kept) <= 16 * 1024
    packed_ones = [each for each in excerpts if each.response_excerpt.startswith("\x1f")]
    assert len(packed_ones) == 21, "An answer is kept as it came."


@pytest.mark.fault(13, "redirects not followed")
def test_redirects_to_an_internal_address_are_not_followed(
    processes: Processes, listen: Listen, receiver: Receiver, sandbox: Business
) -> None:
    statuses = (301, 302, 307, 308)
    with Receiver() as inside:
        receiver.respond_with(*[Answer(status, headers={"Location": inside.url}) for status in statuses])
        listen(receiver.url, 4)
        publish(sandbox)
        processes.deliver()
        wait_for_attempts(4, timeout=30)
        time.sleep(0.3)
        assert inside.connections == 0
    assert len(receiver.requests) == 4
    attempts = set(Attempt.objects.values_list("http_status", "error_class"))
    assert attempts == {(status, "redirect") for status in statuses}


LEAD_INSIDE = {
    "loopback.test": "127.0.0.1",
    "private.test": "10.1.2.3",
    "metadata.test": "169.254.169.254",
    "mapped.test": "::ffff:127.0.0.1",
    "compatible.test": "::127.0.0.1",
    "nat64.test": "64:ff9b::7f00:1",
    "6to4.test": "2002:7f00:1::1",
    "site-local.test": "fec0::1",
}
INSIDE = ["127.0.0.1", "[::1]", "0.0.0.0", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]"]  # noqa: S104
ODD_NOTATIONS = ["2130706433", "0x7f000001", "017700000001", "127.1"]


@pytest.mark.fault(14, "vetted addresses", "vetting of the very socket")
def test_no_connection_is_made_to_an_address_that_is_not_public(
    processes: Processes, receiver: Receiver, installation: Installation, sandbox: Business, tmp_path: Path
) -> None:
    """Every address that the process connects to is written down, and those outside are refused in its place."""
    blocked = [*LEAD_INSIDE, *INSIDE, *ODD_NOTATIONS]
    hosts = [*blocked, "mixed.test", "rebinds.test"]
    webhooks = {
        host: helpers.webhook(installation, at(receiver.url, host), ["order.created"]) for host in hosts
    }
    names = {name: {"answers": [[address]]} for name, address in LEAD_INSIDE.items()} | {
        "mixed.test": {"answers": [["10.0.0.1", "::ffff:127.0.0.1", PUBLIC, "127.0.0.1", "fec0::1"]]},
        "rebinds.test": {"answers": [[PUBLIC], ["127.0.0.1"]]},
    }
    connects = tmp_path / "connects"
    publish(sandbox)
    processes.deliver(
        ALLOW_LOCAL_DESTINATIONS="",
        FAULT_NAMES=json.dumps(names),
        FAULT_CONNECTS=str(connects),
        FAULT_CONSTANTS=json.dumps({"common.http.addresses:TTL": 0}),
    )
    wait_for_attempts(len(hosts), timeout=30)
    published_again = Delivery.objects.get(webhook=webhooks["rebinds.test"])
    publish(sandbox)
    wait_for_attempts(2 * len(hosts), timeout=30)

    assert connects.read_text().split() == [PUBLIC] * 3
    assert receiver.connections == 0
    classes = set(Attempt.objects.filter(delivery__webhook__url__contains="mixed").values_list("error_class"))
    assert classes == {("refused",)}
    assert published_again.attempts.get().error_class == "refused"
    for host in (*blocked, "rebinds.test"):
        last = Attempt.objects.filter(delivery__webhook=webhooks[host]).latest("attempted_at")
        assert (host, last.error_class) == (host, "blocked_address")


@pytest.mark.fault(14, "vetted addresses")
def test_name_that_comes_to_lead_inside_is_judged_at_the_next_look_up(
    processes: Processes, receiver: Receiver, installation: Installation, sandbox: Business, tmp_path: Path
) -> None:
    """Though the connection to the address that was vetted is kept alive. Loopback stands for the internet."""
    helpers.webhook(installation, at(receiver.url, "changes.test"), ["order.created"])
    connects = tmp_path / "connects"
    processes.deliver(
        FAULT_NAMES=json.dumps({"changes.test": {"answers": [["127.0.0.1"], ["10.0.0.1"]]}}),
        FAULT_CONNECTS=str(connects),
        FAULT_CONSTANTS=json.dumps({"common.http.addresses:TTL": 0}),
    )
    publish(sandbox)
    wait_for_attempts(1, timeout=30)
    last = published(sandbox)
    wait_for_attempts(2, timeout=10)
    assert last.attempts.get().error_class == "blocked_address"
    assert connects.read_text().split() == ["127.0.0.1"]
    assert len(receiver.requests) == 1


def hangs_up_on_the_next_request(unread: list[int]) -> Script:
    """A script that answers, and hangs up as the next request on the connection comes, without reading it."""

    def script(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        readable, _, _ = select.select([connection], [], [], 30)
        with suppress(OSError):
            unread.append(len(connection.recv(1, socket.MSG_PEEK)) if readable else 0)

    return script


@pytest.mark.fault(15, "resent on a dead connection")
def test_endpoint_that_hangs_up_on_kept_connections_causes_no_failure_and_no_double(
    processes: Processes, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    unread: list[int] = []
    processes.deliver()
    for number in range(60):
        answers = (Answer(script=hangs_up_on_the_next_request(unread)), 200, Answer(close=True))
        receiver.respond_with(answers[number % 3])
        publish(sandbox)
        receiver.wait_for(number + 1, timeout=20)
    wait_until(all_delivered)
    assert sum(unread) > 10, "Hardly any request met the end of its connection."
    assert set(ids(receiver.requests).values()) == {1}
    assert not Delivery.objects.exclude(attempt_count=1).exists()
