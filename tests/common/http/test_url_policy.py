"""What people read about the URLs they enter."""

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from common.http import transport
from common.http.url_policy import InvalidUrl, check_destination_url, check_redirect_url, resolve_host

SPEC = pytest.mark.spec(
    "Contract 5 Webhooks", "A URL that deliveries can't reach is refused as early as that is known"
)
HTTPS = "Enter a URL that starts with https://."
HTTPS_OR_LOCAL = "Enter a URL that starts with https://, or with http://localhost or http://127.0.0.1 for an app on this machine."
UNREACHABLE = "can be reached from the internet"


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, list[str]]]:
    """Host names and their addresses, in place of DNS."""
    made_up = {"example.com": ["93.184.215.14", "2606:2800:21f::1"], "localhost": ["127.0.0.1", "::1"]}

    def getaddrinfo(host: str, *_: object, **__: object) -> list[Any]:
        if host not in made_up:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in made_up[host]]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield made_up
    transport.close()  # with the names that it remembers


def destination(url: str, *, debug: bool = False, allow_local: bool = False, resolve: bool = True) -> str:
    """What is wrong with a destination; nothing where it is fine."""
    try:
        check_destination_url(url, debug=debug, allow_local=allow_local, resolve=resolve)
    except InvalidUrl as refusal:
        return str(refusal)
    return ""


def redirect(url: str, *, debug: bool = False) -> str:
    try:
        check_redirect_url(url, debug=debug)
    except InvalidUrl as refusal:
        return str(refusal)
    return ""


FAULTS = [
    ("", "Enter a URL."),
    ("example.com/hook", HTTPS),
    ("localhost:3000/callback", HTTPS),
    ("//example.com/hook", HTTPS),
    ("ftp://example.com/", HTTPS),
    ("javascript:alert(1)", HTTPS),
    ("http://example.com/", HTTPS),
    ("https://", "valid host name"),
    ("https:///hook", "valid host name"),
    ("https://a..b/", "valid host name"),
    ("https://" + "x" * 64 + ".com/", "valid host name"),
    ("https://exa$mple.com/", "valid host name"),
    *(
        (f"https://{host}/", "xn--")
        for host in (
            "faß.de",
            "βόλος.com",
            "نامه\u200cای.com",
            "bücher.example",
            "lo\u200ccalhost",
            "１２７.0.0.1",
            "127。0。0。1",
        )
    ),
    ("https://%31%32%37.0.0.1/", "valid host name"),
    ("https://[::1/", "valid"),
    ("https://[zz]/", "valid"),
    ("https://example.com:0/", "port"),
    ("https://example.com:65536/", "port"),
    ("https://example.com:x/", "port"),
    ("https://me@example.com/", "user name"),
    ("https://me:secret@example.com/", "user name"),
    ("https://@example.com/", "user name"),
    ("https://example.com/#part", "fragment"),
    ("https://example.com/#", "fragment"),
    ("https://example.com/a b", "spaces"),
    (" https://example.com/", "spaces"),
    ("https://example.com/\r\nX: y", "control"),
    ("https://example.com/\x00", "control"),
    ("https://example.com\\@inside/", "backslash"),
    ("https://example.com/" + "x" * 2029, "2048"),
]


OTHER_SPELLINGS_OF_THIS_MACHINE = [
    *("127.0.0.2", "127.8.9.10", "127.1", "2130706433", "0x7f000001", "127.0.0.1."),
    *("[::1]", "localhost.", "shop.localhost"),
]


class TestDestinations:
    @SPEC
    @pytest.mark.parametrize(
        "url",
        [
            *("https://example.com", "https://example.com/hook?a=1&b=%20", "HTTPS://Example.com:8443/"),
            *(
                "https://example.com./",
                "https://xn--bcher-kva.example/ü",
                "https://8.8.8.8/",
                "https://[2606:4700::1111]/",
            ),
            "https://example.com/" + "x" * 2028,
        ],
    )
    def test_good_ones(self, url: str) -> None:
        assert destination(url) == ""

    @SPEC
    @pytest.mark.parametrize(("url", "message"), FAULTS)
    def test_faults(self, url: str, message: str) -> None:
        assert message in destination(url)
        here = HTTPS_OR_LOCAL if message == HTTPS else message
        assert here in destination(url, debug=True, allow_local=True)
        assert here in redirect(url, debug=True)

    @SPEC
    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "127.0.0.1:8000"])
    def test_plain_http_only_to_this_machine_and_with_both_settings(self, host: str) -> None:
        url = f"http://{host}/hook"
        assert destination(url, debug=True, allow_local=True) == ""
        for debug, allow_local in ((False, False), (True, False), (False, True)):
            assert destination(url, debug=debug, allow_local=allow_local) == HTTPS

    @SPEC
    @pytest.mark.parametrize(
        "host",
        [
            *("10.0.0.1", "example.com", "127.0.0.1.example.com", "[::ffff:127.0.0.1]"),
            *OTHER_SPELLINGS_OF_THIS_MACHINE,
        ],
    )
    def test_no_plain_http_to_anywhere_else(self, host: str) -> None:
        assert destination(f"http://{host}/", debug=True, allow_local=True) == HTTPS_OR_LOCAL

    @SPEC
    @pytest.mark.parametrize(
        "host",
        [
            *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "017700000001", "0177.0.0.1"),
            *("127.0.0.1.", "10.0.0.1", "169.254.169.254", "0.0.0.0"),  # noqa: S104
            *(
                "[::1]",
                "[::]",
                "[::ffff:8.8.8.8]",
                "[64:ff9b::808:808]",
                "[fe80::1%25eth0]",
                "[fec0::1]",
                "[fd00::1]",
            ),
            *("localhost", "localhost.", "LocalHost", "shop.localhost"),
        ],
    )
    def test_hosts_that_are_not_public(self, host: str) -> None:
        assert UNREACHABLE in destination(f"https://{host}/")
        assert UNREACHABLE in destination(f"https://{host}/", debug=True)
        assert UNREACHABLE in destination(f"https://{host}/", resolve=False)

    def test_a_public_address_in_a_notation_that_clients_read_differently(self) -> None:
        assert destination("https://134744072/") == "Enter the host as 8.8.8.8."

    @SPEC
    def test_the_local_setting_opens_loopback_alone(self) -> None:
        for host in ("127.0.0.1", "[::1]", "localhost"):
            assert destination(f"https://{host}/", allow_local=True) == ""
        for host in ("10.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]", "169.254.169.254"):  # noqa: S104
            assert UNREACHABLE in destination(f"https://{host}/", allow_local=True)

    @SPEC
    @pytest.mark.parametrize(
        "addresses", [["127.0.0.1"], ["10.0.0.1"], ["93.184.215.14", "169.254.169.254"], ["fd00::1"]]
    )
    def test_names_that_lead_inside(self, names: dict[str, list[str]], addresses: list[str]) -> None:
        names["inside.example"] = addresses
        assert UNREACHABLE in destination("https://inside.example/")
        assert destination("https://inside.example/", resolve=False) == ""

    @SPEC
    def test_a_name_that_does_not_resolve_yet(self) -> None:
        assert destination("https://not-yet.example/") == ""


class TestRedirects:
    @pytest.mark.parametrize(("url", "message"), FAULTS)
    def test_faults(self, url: str, message: str) -> None:
        assert message in redirect(url)

    @pytest.mark.spec(
        "Contract 2 Developer API", "HTTPS, or http to 127.0.0.1 and localhost when DEBUG is on"
    )
    def test_plain_http_only_to_the_browsers_own_machine(self) -> None:
        for host in ("127.0.0.1:3000", "localhost:3000"):
            assert redirect(f"http://{host}/callback", debug=True) == ""
            assert redirect(f"http://{host}/callback") == HTTPS
        for host in ("example.com", *OTHER_SPELLINGS_OF_THIS_MACHINE):
            assert redirect(f"http://{host}/callback", debug=True) == HTTPS_OR_LOCAL

    def test_the_browser_finds_the_way_where_the_service_may_not(self) -> None:
        assert redirect("https://intranet.example/callback?a=b") == ""
        assert redirect("https://10.0.0.1/callback") == ""


class TestResolving:
    def test_all_addresses_count(self) -> None:
        assert [str(ip) for ip in resolve_host("example.com")] == ["93.184.215.14", "2606:2800:21f::1"]

    def test_it_keeps_its_budget(self, monkeypatch: pytest.MonkeyPatch) -> None:
        released, ended = threading.Event(), threading.Event()

        def look_up(*_: object, **__: object) -> list[Any]:
            released.wait(0.5)
            ended.set()
            return []

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        began = time.monotonic()
        assert resolve_host("slow.example", budget=0.2) == []
        assert time.monotonic() - began >= 0.2
        assert not ended.is_set(), "it waited for the answer"
        released.set()
