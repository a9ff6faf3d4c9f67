"""Which hosts are one site to browsers: those below one domain that somebody registered, by the Public Suffix List."""

from functools import cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()  # takes 30 ms


def site_of(host: str) -> str:
    """`example.co.uk` for `shop.example.co.uk`. A host without such a domain, such as an IP address, is a site of its own."""
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return _suffixes().privatesuffix(host.lower()) or host.lower()
    return host


def is_same_site(url: str, other: str) -> bool:
    """Whether a browser sends cookies that are `SameSite=Lax` into a frame of `url` on a page of `other`. Ports don't count."""
    one, two = urlsplit(url), urlsplit(other)
    return one.scheme == two.scheme and site_of(one.hostname or "") == site_of(two.hostname or "")
