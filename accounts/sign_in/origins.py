"""Where a request comes from, as people recognize it: a device and a network."""

from functools import lru_cache
from typing import NamedTuple

from django.http import HttpRequest
from ua_parser import parse

from common.web.client_address import client_subnet


class Origin(NamedTuple):
    device: str = ""  # the User-Agent as it was sent
    network: str = ""  # 203.0.113.0/24


NOWHERE = Origin()


def origin_of(request: HttpRequest | None) -> Origin:
    if request is None:
        return NOWHERE
    return Origin(request.headers.get("User-Agent", "")[:300], client_subnet(request))


@lru_cache(maxsize=1000)
def device_name(user_agent: str) -> str:
    """`Firefox on Linux`; for other programs the first word of what they call themselves."""
    found = parse(user_agent)
    browser = found.user_agent.family if found.user_agent else ""
    system = found.os.family if found.os else ""
    if browser and system:
        return f"{browser} on {system}"
    return browser or user_agent.split(" ")[0] or "Unknown device"
