"""Whether a browser would show an answer in a frame on the platform (CSP Level 3, 6.4.2)."""

import pytest

from extensions.manifest.framing import refusal

HOST = "https://platform.example"


@pytest.mark.parametrize(
    ("policy", "options", "may"),
    [
        ("", "", True),
        ("default-src 'none'", "", True),
        ("", "DENY", False),
        ("", "SAMEORIGIN", False),
        ("", "deny, DENY", False),
        ("", "ALLOW-FROM https://platform.example", True),  # which browsers ignore
        ("frame-ancestors 'none'", "", False),
        ("frame-ancestors", "", False),
        ("frame-ancestors 'self'", "", False),
        ("frame-ancestors *", "DENY", True),
        ("FRAME-ANCESTORS https://platform.example", "DENY", True),
        ("frame-ancestors platform.example", "", True),
        ("frame-ancestors https://platform.example:443", "", True),
        ("frame-ancestors https://platform.example:8443", "", False),
        ("frame-ancestors https://platform.example:*", "", True),
        ("frame-ancestors *.example", "", True),
        ("frame-ancestors *:*", "", True),
        ("frame-ancestors https://*", "", True),
        ("frame-ancestors https://*:443", "", True),
        ("frame-ancestors https://*:8443", "", False),
        ("frame-ancestors *.platform.example", "", False),
        ("frame-ancestors https:", "", True),
        ("frame-ancestors http:", "", True),
        ("frame-ancestors http://platform.example", "", True),  # HTTPS is as good
        ("frame-ancestors https://other.example", "", False),
        ("frame-ancestors other.example 'self' platform.example", "", True),
        ("frame-ancestors *, frame-ancestors 'none'", "", False),
        ("script-src x; frame-ancestors other.example; frame-ancestors *", "", False),
    ],
)
def test_headers_say_who_may_frame(policy: str, options: str, may: bool) -> None:
    assert (refusal(policy=policy, frame_options=options, host=HOST) == "") is may


def test_scheme_less_source_takes_the_port_of_the_platform() -> None:
    local = "http://127.0.0.1:8000"
    assert refusal(policy="frame-ancestors 127.0.0.1", frame_options="", host=local)
    assert not refusal(policy="frame-ancestors http://127.0.0.1:8000", frame_options="", host=local)
    assert not refusal(policy="frame-ancestors 127.0.0.1:*", frame_options="", host=local)
