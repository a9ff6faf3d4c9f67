"""Whether a browser would show an answer in a frame on the platform (CSP Level 3, 6.4.2)."""

from typing import Any

import pytest

from common.http.framing import refusal
from conformance.steps.frames import addresses_of
from extensions.manifest.content import definitions_in
from tests.extensions.manifests import admin_page, block, script, widget

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


@pytest.mark.parametrize(
    ("policy", "may"),
    [
        ("frame-ancestors https://*.stores.example", True),
        ("frame-ancestors https://platform.example *.stores.example", True),
        ("frame-ancestors https:", True),
        ("frame-ancestors https://bakery.stores.example", False),  # one store of many
        ("frame-ancestors https://stores.example", False),
        ("frame-ancestors https://platform.example", False),
    ],
)
def test_frame_in_stores_must_be_allowed_in_every_store(policy: str, may: bool) -> None:
    stores = "https://*.stores.example"
    assert (refusal(policy=policy, frame_options="", host=stores) == "") is may


def test_each_frame_is_checked_for_the_pages_that_show_it(settings: Any) -> None:
    settings.BASE_URL, settings.STORES_URL = HOST, "https://{slug}.stores.example"
    stores = "https://*.stores.example"
    document = {
        "blocks": [block(renderUrl="https://app.example/block")],
        "embeds": [
            widget(renderUrl="https://app.example/widget"),
            script(scriptUrl="https://app.example/script.js"),
        ],
        "adminPages": [admin_page(renderUrl="https://app.example/admin")],
    }
    found = {each.url.rpartition("/")[2]: each.framed_by for each in addresses_of(definitions_in(document))}
    assert (found["block"], found["widget"], found["admin"]) == ([HOST, stores], [stores], [HOST])
