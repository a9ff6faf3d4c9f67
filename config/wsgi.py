"""The WSGI application, for `manage.py serve`."""

import os
from collections.abc import Iterable
from threading import Timer
from typing import Any

import django
from django.conf import settings
from django.urls import get_resolver

from common.observability.garbage import collect_regularly
from common.web.middleware.bodies import Application, Environ, Start, with_length
from common.web.requests import RequestHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


def without_body_to_head(application: Application) -> Application:
    """Answer HEAD with headers only, including the Content-Length that GET would have.

    Django leaves this to the server, but waitress sends the body. A client that keeps the connection open would read
    it as the next response.
    """

    def call(environ: Environ, start: Start) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] != "HEAD":
            return application(environ, start)
        started: list[Any] = []
        body = application(environ, lambda *answer: started.extend(answer))
        try:
            length = sum(map(len, body))
        finally:
            getattr(body, "close", lambda: None)()
        status, headers, *_ = started
        has_length = any(name.lower() == "content-length" for name, _ in headers)
        if not has_length and status[:3] not in ("204", "304"):  # otherwise the server would send chunks
            headers = [*headers, ("Content-Length", str(length))]
        start(status, headers)
        return []

    return call


def load_all_pages() -> None:
    for urlconf in (settings.ROOT_URLCONF, settings.ZONES["stores"]["urlconf"]):
        assert get_resolver(urlconf).url_patterns


def make_documentation(after: float = 0.0) -> Timer:
    """Make what the pages of the documentation are drawn from, in a thread, so that no visitor waits for it. `after` so many seconds.

    It takes about a second of a processor in each process that serves.
    """

    def make() -> None:
        from developers.docs import navigation, reference, search

        for made in (navigation.parts, reference.events, reference.hooks, search.index):
            made()

    thread = Timer(after, make)
    thread.daemon = True
    thread.start()
    return thread


django.setup(set_prefix=False)
application = without_body_to_head(with_length(RequestHandler()))
load_all_pages()
collect_regularly()
