"""`TRUSTED_PROXIES`: which values stop the start, and whose word counts about HTTPS."""

from ipaddress import ip_network
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from config.env.addresses import trusted_proxies


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("TRUSTED_PROXIES", "10.0.0.0/8, proxy.internal", "proxy.internal"),
        ("TRUSTED_PROXIES", "10.0.0.1/8", "has host bits set"),
        ("BEHIND_PROXY", "1", "Set TRUSTED_PROXIES"),
    ],
)
def test_start_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as refused:
        trusted_proxies()
    assert words in str(refused.value)


def test_networks_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUSTED_PROXIES", "127.0.0.1, 2001:db8::/32,unix")
    assert trusted_proxies() == (ip_network("127.0.0.1/32"), ip_network("2001:db8::/32"), "unix")


@pytest.mark.parametrize(
    ("peer", "status"), [("10.1.2.3", 200), ("198.51.100.7", 301), ("::ffff:10.1.2.3", 200), ("", 200)]
)
def test_only_trusted_proxies_say_https(client: Client, settings: Any, peer: str, status: int) -> None:
    settings.TRUSTED_PROXIES = (ip_network("10.0.0.0/8"), "unix")
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SECURE_SSL_REDIRECT = True
    fresh = Client(REMOTE_ADDR=peer, headers={"X-Forwarded-Proto": "https"})
    assert fresh.get("/licenses/").status_code == status
