"""How much a process grows when a parser reads a body. Runs as a process of its own: a name of `CASES` in, a line out.

Each case is read in a fork, by which it has its own peak and leaves nothing behind.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final

MIB: Final = 2**20
FREE: Final = 32 * MIB


@dataclass(frozen=True, slots=True)
class Case:
    """`read` gets the body."""

    read: Callable[[bytes], object]
    body: Callable[[], bytes]


def registered(token: bytes, size: int, before: bytes = b"", after: bytes = b"") -> Callable[[], bytes]:
    """A body of `size` bytes at most: a beginning, a token again and again, and an end."""
    return lambda: before + token * ((size - len(before) - len(after)) // len(token)) + after


# --- What reads strangers' bytes ---------------------------------------------------------------------


def app_form(body: bytes) -> None:
    from django.test import RequestFactory

    from developers.api.views.apps import PictureFormParser

    kind = "multipart/form-data; boundary=" + ("a" if body.startswith(b"--a") else "boundary")
    request = RequestFactory().patch("/", body, content_type=kind)
    PictureFormParser().parse(request, kind, {"request": request})


def page_form(body: bytes) -> None:
    """Through all middleware of a page, as far as the check of the form's token."""
    from django.conf import settings
    from django.test import Client

    client = Client(enforce_csrf_checks=True, headers={"accept": "application/json"})
    client.cookies[settings.CSRF_COOKIE_NAME] = "x" * 32
    kind = "multipart/form-data; boundary=boundary" if body.startswith(b"--") else FORM
    assert client.post("/accounts/login/", body, content_type=kind).status_code in (400, 403, 413)


def device_form(body: bytes) -> None:
    from common.rest.bodies import FormParser

    FormParser().parse(BytesIO(body))


def json_body(body: bytes) -> None:
    from appapi.serializers import OrderBody
    from common.rest.bodies import JsonParser

    checked = OrderBody(data=JsonParser().parse(BytesIO(body)), context={"currency": "EUR"})
    checked.is_valid()
    checked.errors  # noqa: B018


def manifest_body(body: bytes) -> None:
    from developers.api.views.manifests import ManifestParser
    from extensions.manifest.problems import problems_of_manifest

    problems_of_manifest(ManifestParser().parse(BytesIO(body)))


def manifest_text(body: bytes) -> None:
    from extensions.manifest.text import read

    read(body.decode())


def settings_schema(body: bytes) -> None:
    from extensions.schemas import problems_of_schema

    problems_of_schema(json.loads(body))


def hook_answer(body: bytes) -> None:
    from extensions.hooks.answers import parse, problems_of
    from stores.hookpoints import HookPoint

    list(problems_of(HookPoint.PAYMENT_METHODS, parse(body)))


def shown_json(body: bytes) -> None:
    from common.text.nesting import indented

    indented(body.decode())


def pasted_request(body: bytes) -> None:
    from datetime import UTC, datetime

    from developers.portal.signatures.checker import examine

    headers = {"x-webhook-timestamp": "1", "x-webhook-signature": "sha256=" + "0" * 64}
    examine(headers=headers, body=body.decode(), secret="whsec_x", now=datetime.now(UTC))


def log_of_calls(body: bytes) -> None:
    from common.observability.masking import mask

    mask(body.decode(), personal=True)


def markdown(body: bytes) -> None:
    from common.text.markdown import render

    render(body.decode())


def page_text(body: bytes) -> None:
    """A preview in the page editor, and what saving a page writes."""
    from stores.services.pages import clean_html, written

    clean_html(written(body.decode())["content"])


def feed_query(body: bytes) -> None:
    from django.http import QueryDict

    from appapi.serializers import FeedFilters

    FeedFilters(data=QueryDict(body)).is_valid()


def picture(body: bytes) -> None:
    from stores.services.catalogue.pictures import decode
    from tests.pictures import upload

    decode(upload(body))


def photograph(mode: str, kind: str) -> Callable[[], bytes]:
    from tests.pictures import picture as made

    return lambda: made(kind, (5000, 5000), mode)


# --- Bodies of the largest size, each of the smallest token --------------------------------------------

FORM: Final = "application/x-www-form-urlencoded"
PART: Final = b'--boundary\r\nContent-Disposition: form-data; name="a"\r\n\r\n'
END: Final = b"--boundary--\r\n"
VALUES: Final = (b'{"a":[', b"0]}")

PARTS: Final = {
    "short boundaries": registered(b"--a", 32 * MIB),
    "boundaries": registered(b"--boundary", 32 * MIB),
    "parts": registered(PART + b"\r\n", 32 * MIB, after=END),
    "header lines": registered(b"a\r\n", 32 * MIB, b"--boundary\r\n", b"\r\n\r\n" + END),
    "line breaks": registered(b"\r\n", 32 * MIB, PART.replace(b"\r\n\r\n", b'; filename="a"\r\n\r\n'), END),
}
PAIRS: Final = {token: registered(token.encode(), 2 * MIB) for token in ("&=", "a&", "%", "%00", "+")}
JSON: Final = {
    "levels": b"[", "objects in objects": b'{"a":', "lists": b"[],", "objects": b"{},",
    "objects of one": b'{"":0},', "objects of a list": b'{"a":[]},', "numbers": b"0,", "fractions": b"1.5,",
    "texts": b'"ab",', "errors": b'{"items":[',
}  # fmt: skip
# Each makes many elements, or many beginnings of some, of few characters.
MARKDOWN: Final = {
    "cells": (b"|b\n", b"|x\n|-\n"), "items": (b"* a\n", b""), "numbers": (b"1. a\n", b""), "headings": (b"# a\n", b""),
    "emphases": (b"_a_*", b""), "marks": (b"*_", b""), "brackets": (b"[", b""), "pictures": (b"![", b""),
    "entities": (b"&#0;", b""), "references": (b"[a]: b\n", b""), "links": (b"[a](b)", b""), "levels": (b"> ", b""),
}  # fmt: skip


def json_of(size: int) -> dict[str, Callable[[], bytes]]:
    return {name: registered(token, size, *VALUES) for name, token in JSON.items()} | {
        "keys": lambda: b"{%s}" % b",".join(b'"%x":0' % number for number in range(min(size // 9, 49_990))),
        "as many objects as are read": registered(b'{"a":{}},', min(size, 24_990 * 9), *VALUES),
        "as many items as are read": registered(b"{},", min(size, 49_900 * 3), b'{"items":[', b"0]}"),
        "items": registered(b"{},", size, b'{"items":[', b"0]}"),
        "long text": registered("é".encode(), size, b'{"a":"', '\U0001f950"}'.encode()),
        "escapes": registered(b"\\u0001", size, b'{"a":"', b'"}'),
        "quotes": registered(b'\\"', size, b'{"a":"', b'"}'),
        "open quotes": registered(b'\\"', size, b'{"a":[0,"', b""),
    }


def _cases() -> dict[str, Case]:
    kinds: dict[Callable[[bytes], object], dict[str, Callable[[], bytes]]] = {
        app_form: PARTS,
        page_form: PAIRS | {name: body for name, body in PARTS.items() if name != "short boundaries"},
        device_form: {"%": registered(b"%", MIB), "&=": registered(b"&=", MIB)},
        json_body: json_of(MIB),
        manifest_body: json_of(MIB),
        manifest_text: json_of(MIB),
        settings_schema: {
            name: registered(token, 64 * 1024, b'{"properties":{"a":{"enum":[', b"0]}}}")
            for name, token in JSON.items()
            if "in" not in name and name not in ("levels", "errors")
        },
        hook_answer: json_of(64 * 1024) | {"methods": registered(b"{},", 64 * 1024, b'{"methods":[', b"0]}")},
        shown_json: {"deep numbers": registered(b"0,", 256 * 1024, b"[" * 900, b"0" + b"]" * 900)},
        pasted_request: {"deep numbers": registered(b"0,", 256 * 1024, b"[" * 900, b"0" + b"]" * 900)},
        log_of_calls: {name: registered(token, 8 * 1024) for name, token in JSON.items()},
        markdown: {
            token: registered(token.encode(), 10_000) for token in ("*_", "[", "> ", "- ", "`", "&#0;", "<a:")
        },
        page_text: {name: registered(token, 20_000, before) for name, (token, before) in MARKDOWN.items()}
        | {"more than is read": registered(b"|b\n", 2 * MIB, b"|x\n|-\n")},
        feed_query: {"commas": registered(b",", 8000, b"type="), "types": registered(b"type=&", 8000)},
    }
    made = {
        f"{read.__name__}: {name}": Case(read, body)
        for read, bodies in kinds.items()
        for name, body in bodies.items()
    }
    for mode, kind in (("RGBA", "PNG"), ("P", "PNG"), ("RGB", "JPEG"), ("RGBA", "WEBP")):
        made[f"picture: {mode} {kind}"] = Case(picture, photograph(mode, kind))
    return made


CASES: Final = _cases()


# --- Measuring -----------------------------------------------------------------------------------------


WARM: Final[set[Callable[[bytes], object]]] = set()


def grown(case: Case) -> str:
    """JSON: the size of the body, by how many bytes the fork grew, and its CPU seconds."""
    if case.read not in WARM:
        WARM.add(case.read)
        _try(case.read, b"{}")  # imports
    read, write = os.pipe()
    if child := os.fork():
        os.close(write)
        with open(read) as answer:
            line = answer.read()
        os.waitpid(child, 0)
        return line
    body = case.body()
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak of making the body
    before, began = _resident("VmRSS"), time.process_time()
    outcome = _try(case.read, body)
    seconds = time.process_time() - began
    figures = {
        "size": len(body),
        "grown": _resident("VmHWM") - before,
        "seconds": seconds,
        "outcome": outcome,
    }
    os.write(write, json.dumps(figures).encode())
    os._exit(0)


def _try(read: Callable[[bytes], object], body: bytes) -> str:
    """The error's text: a refusal is as good as a result."""
    try:
        read(body)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    return "read"


def _resident(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) * 1024


def main() -> None:
    import django

    django.setup()
    for line in sys.stdin:
        print(grown(CASES[line.rstrip("\n")]), flush=True)


if __name__ == "__main__":
    main()
