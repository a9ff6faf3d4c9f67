"""The product behind a proxy that answers some requests by itself: `/by-proxy/413` with none of the product's headers."""

from collections.abc import Iterable

from common.web.middleware.bodies import Environ, Start
from config.wsgi import application as product

PREFIX = "/by-proxy/"


def application(environ: Environ, start: Start) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    if not path.startswith(PREFIX):
        return product(environ, start)
    start(f"{path.removeprefix(PREFIX)} Error", [("Content-Type", "text/html")])
    return [b"<!doctype html><title>Error</title><h1>Error</h1>"]
