"""Traces for the operator's own collector, by OpenTelemetry's SDK. Imported if `OTEL_EXPORTER_OTLP_ENDPOINT` is set.

A request's spans are in the trace of `common.tracing`, which the answer, the log and everything that the request causes
name, too. Spans have routes in place of paths and queries, which may hold keys and addresses, and SQL without parameters.
"""

import os
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.django import DjangoInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import Span, SpanKind

from common import tracing

AFTER_REQUEST_IDS: Final = 1  # the place in MIDDLEWARE, so that the trace is there already
PATHS: Final = ("http.url", "http.target", "url.full", "url.path")
PERSONAL: Final = ("url.query", "net.peer.ip", "client.address", "http.user_agent", "user_agent.original")


def start() -> None:
    os.environ.setdefault("OTEL_SERVICE_NAME", "extension-platform")
    provider = TracerProvider(id_generator=IdsOfRequests())
    provider.sampler = WithoutLoneCalls(provider.sampler)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    DjangoInstrumentor().instrument(
        middleware_position=AFTER_REQUEST_IDS, response_hook=describe, excluded_urls="healthz,readyz,metrics"
    )
    for instrumentor in (CeleryInstrumentor, PsycopgInstrumentor, RedisInstrumentor):
        instrumentor().instrument()


class IdsOfRequests(RandomIdGenerator):
    """A trace that begins with a request has the id that the request has already."""

    def generate_trace_id(self) -> int:
        current = tracing.current()
        return current.trace_id.int if current else super().generate_trace_id()


class WithoutLoneCalls(Sampler):
    """Leaves out calls of the database and of Redis outside of requests and tasks: a dispatcher makes some each second.

    `sampler` decides on all others (`OTEL_TRACES_SAMPLER`).
    """

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def should_sample(
        self,
        parent_context: Any,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> SamplingResult:
        if kind == SpanKind.CLIENT and not trace.get_current_span(parent_context).get_span_context().is_valid:
            return SamplingResult(Decision.DROP)
        return self._sampler.should_sample(parent_context, trace_id, name, kind, *args, **kwargs)

    def get_description(self) -> str:
        return f"WithoutLoneCalls{{{self._sampler.get_description()}}}"


def describe(span: Span, request: HttpRequest, response: HttpResponse) -> None:
    """Name the span by its route, and add the request id."""
    route = request.resolver_match.route if request.resolver_match else ""
    span.update_name(f"{request.method} /{route}" if route else str(request.method))
    known = getattr(span, "attributes", None) or {}
    span.set_attributes({name: f"/{route}" for name in PATHS if name in known})
    span.set_attributes({name: "" for name in PERSONAL if name in known})
    if current := tracing.current():
        span.set_attribute("request.id", str(current.request_id))
