"""Which addresses the service talks to. One address per range, and the edges."""

from ipaddress import ip_address

import pytest

from common.http.addresses import is_allowed_destination, is_global_unicast, is_loopback, literal_address

SPEC = pytest.mark.spec(
    "Contract 5 Webhooks",
    "Only global unicast addresses: no loopback, private, link-local, carrier-grade NAT, multicast, reserved or "
    "metadata address, and no IPv4 inside IPv6 in any form",
)

GLOBAL = [
    *("1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255"),
    *("128.0.0.0", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255"),
    *("198.17.255.255", "198.20.0.0", "223.255.255.255"),
    *("2001:200::1", "2606:4700::1111", "2a00:1450:4001::1", "3ffe:ffff::1"),
]

REFUSED = [
    *("0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.255"),  # noqa: S104
    *("10.0.0.0", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1"),
    *("100.64.0.1", "100.100.100.200", "100.127.255.255"),
    *("169.254.0.1", "169.254.169.254", "168.63.129.16"),
    *("192.0.0.1", "192.0.0.192", "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "198.19.255.255"),
    *("192.31.196.1", "192.52.193.1", "192.88.99.1", "192.175.48.1"),
    *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "100::1"),
    *("2001:db8::1", "3fff::1", "2001:2::1", "2001:10::1", "2001:20::1", "5f00::1"),
    *("2620:4f:8000::1", "2001:4:112::1"),
]

# 127.0.0.1 and 8.8.8.8 in each form that IPv6 has for IPv4
EMBEDDED = [
    *("::ffff:127.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1"),
    *("2002:7f00:1::", "2002:7f00:1::1", "2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:80ff:fffe"),
    *("::ffff:8.8.8.8", "::8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b::808:808", "64:ff9b:1::808:808"),
    *("2002:808:808::1", "2001:0:808:808::"),
]


@SPEC
@pytest.mark.parametrize("address", GLOBAL)
def test_public_addresses(address: str) -> None:
    assert is_global_unicast(ip_address(address))
    assert is_allowed_destination(ip_address(address), allow_local=False)


@SPEC
@pytest.mark.parametrize("address", REFUSED + EMBEDDED)
def test_all_others(address: str) -> None:
    assert not is_global_unicast(ip_address(address))
    assert not is_allowed_destination(ip_address(address), allow_local=False)


@pytest.mark.spec("Contract 8 Running it", "ALLOW_LOCAL_DESTINATIONS lets loopback through and nothing else")
@pytest.mark.parametrize("address", REFUSED + EMBEDDED)
def test_the_local_setting_opens_loopback_alone(address: str) -> None:
    ip = ip_address(address)
    expected = address in {"127.0.0.1", "127.255.255.255", "::1"}
    assert is_loopback(ip) is expected
    assert is_allowed_destination(ip, allow_local=True) is expected


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "017700000001",
        "2130706433",
        "127.0.0.1.",
    ],
)
def test_every_notation_of_an_ipv4_address(host: str) -> None:
    assert literal_address(host) == ip_address("127.0.0.1")


def test_ipv6_literals_and_names() -> None:
    assert literal_address("::1") == ip_address("::1")
    assert literal_address("fe80::1%1") == ip_address("fe80::1%1")
    for name in ("localhost", "1.example", "256.1.1.1", "1.2.3.4.5", "", "0xfg", ":::", "127.0.0.1.example"):
        assert literal_address(name) is None
