"""Which zone a request belongs to. The settings list the middleware of each."""

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.http.request import split_domain_port

from common.web.errors import is_api_path
from stores.addresses import is_stores_host

PROBES = ("/healthz", "/readyz")
FOR_SHOPS = ("/store.js", "/placements/")
METRICS = "/metrics"


def zone_of(request: HttpRequest) -> str:
    """The host decides between platform and stores, the path between pages and API.

    Probes are the same on every host, metrics on every one but the stores'.
    """
    path = request.path_info.removesuffix("/")
    if path in PROBES:
        return "probes"
    try:
        host, _ = split_domain_port(request.get_host())
    except DisallowedHost:  # refused by the zone's middleware, in the error shape
        host = ""
    if is_stores_host(host):
        return "stores"
    if path == METRICS:
        return "probes"
    if request.path_info.startswith(FOR_SHOPS):
        return "shops"
    return "api" if is_api_path(request.path_info) else "platform"
