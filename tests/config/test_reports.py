"""Traces and errors that reach the operator's own systems, by HTTP, from a process of its own."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

TRACE = "0af7651916cd43dd8448eb211c80319c"
ADDRESS = "dana@example.com"
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed, pytest.mark.slow]

# What the process does, once everything is set up; it prints what the test looks for.
SCRIPT = f"""
import json, logging
import django
django.setup()
from django.test import Client
answers = [
    Client().get("/marketplace/?q={ADDRESS}", headers=headers)
    for headers in ({{}}, {{"traceparent": "00-{TRACE}-b7ad6b7169203331-01"}})
]
try:
    raise ValueError("{ADDRESS}")
except ValueError:
    logging.getLogger("shop").exception("No order of %s", "{ADDRESS}")
print(json.dumps([answer["X-Request-Id"] for answer in answers]))
"""


@pytest.fixture
def received() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """The address of a server, and the path and body of each request that it gets."""
    found: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.append((self.path, gzip.decompress(body) if "Content-Encoding" in self.headers else body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}", found
        server.shutdown()
        thread.join()


def run(**variables: str) -> list[str]:
    """The request ids that the process printed. It works in the test's own database."""
    database = connection.settings_dict["NAME"]
    if connection.vendor == "postgresql":
        url = settings.DATABASE_URL.rpartition("/")[0] + f"/{database}"
    else:
        url = f"sqlite:///{database}"
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DEBUG": "1",
        "DATABASE_URL": url,
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    ids: list[str] = json.loads(done.stdout.splitlines()[-1])
    return ids


def test_spans_are_in_the_trace_that_the_answer_names(received: Any) -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    address, requests = received
    ids = run(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://{address}", ALLOWED_HOSTS="testserver")
    assert {path for path, _ in requests} == {"/v1/traces"}
    messages = [ExportTraceServiceRequest.FromString(body) for _, body in requests]
    resources = [resource for message in messages for resource in message.resource_spans]
    spans = [span for each in resources for scope in each.scope_spans for span in scope.spans]
    own, brought = ids[0].replace("-", ""), TRACE
    assert {span.trace_id.hex() for span in spans} == {own, brought}
    answers = [span for span in spans if span.name == "GET /marketplace/"]
    assert [span.parent_span_id.hex() for span in answers] == ["", "b7ad6b7169203331"]
    attributes = {each.key: each.value.string_value for each in answers[0].attributes}
    assert attributes["request.id"] == ids[0]
    statements = [span for span in spans if span.name == "SELECT"]
    assert bool(statements) == (connection.vendor == "postgresql")
    assert all(span.parent_span_id for span in statements)
    assert ADDRESS not in str(messages)
    names = {
        each.value.string_value for each in resources[0].resource.attributes if each.key == "service.name"
    }
    assert names == {"extension-platform"}


def test_errors_reach_sentry_without_personal_data(received: Any) -> None:
    pytest.importorskip("sentry_sdk")
    address, requests = received
    run(SENTRY_DSN=f"http://key@{address}/7", ALLOWED_HOSTS="testserver")
    events = [
        json.loads(body.splitlines()[2]) for path, body in requests if path.startswith("/api/7/envelope/")
    ]
    found = next(event for event in events if event.get("logger") == "shop")
    assert found["exception"]["values"][0]["type"] == "ValueError"
    assert found["logentry"]["message"] == "No order of %s"
    assert ADDRESS not in json.dumps(events)
