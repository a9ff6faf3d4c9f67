"""A body of the largest accepted size, of whatever shape, costs at most four times its size and 32 MiB."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from common.files import pictures
from common.text.nesting import MAX_VALUES
from common.web.middleware.bodies import FORM, MAX_ESCAPES
from stores.services.catalogue.pictures import decode
from tests.pictures import upload
from tests.security.memory import CASES, FREE
from tests.storefront.shopping import STORES_HOST

MEMORY = (
    "Contract 15 Doors",
    "A body of the largest accepted size costs at most four times its size and 32 MiB",
)

SECONDS = 3  # of the processor. The slowest takes one on a machine that does nothing else, and others took it twenty.

Measure = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measure]:
    """Read the body of a case of `tests/security/memory.py` in a process of its own."""
    environment = os.environ | {"VAR_DIR": str(tmp_path_factory.mktemp("var")), "DEBUG": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.security.memory"],
        cwd=Path(__file__).parents[2],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout

        def read(name: str) -> dict[str, Any]:
            print(name, file=process.stdin, flush=True)
            answer: dict[str, Any] = json.loads(process.stdout.readline())
            return answer

        yield read
        process.stdin.close()


@pytest.mark.long
@pytest.mark.spec(*MEMORY)
@pytest.mark.parametrize("name", CASES)
def test_body_of_the_smallest_token_costs_little(measure: Measure, name: str) -> None:
    figures = measure(name)
    assert figures["grown"] <= 4 * figures["size"] + FREE, figures
    assert figures["seconds"] < SECONDS, figures
    assert figures["outcome"] == "read" or not name.startswith("picture"), figures


@pytest.mark.parametrize("path", ["/accounts/login/", "/oauth/token", "/oauth/revoke", "/developer/device"])
@pytest.mark.django_db
def test_form_with_too_many_escapes_is_413(client: Client, path: str) -> None:
    answer = client.post(path, b"a=" + b"%" * (MAX_ESCAPES + 1), content_type=FORM)
    assert answer.status_code == 413
    answer = client.post(path, b"a=" + b"%" * MAX_ESCAPES, content_type=FORM)
    assert answer.status_code != 413


@pytest.mark.django_db
def test_form_of_a_store_with_too_many_escapes_is_413() -> None:
    client = Client(SERVER_NAME=STORES_HOST)
    answer = client.post("/x/cart/", b"a=" + b"%" * (MAX_ESCAPES + 1), content_type=FORM)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("document", "refused"),
    [
        ({"name": "," * 300_000}, False),
        ({"name": '"[' * 60_000}, False),
        ({"name": "x", "more": [0] * (MAX_VALUES - 3)}, False),
        ({"name": "x", "more": [0] * (MAX_VALUES + 1)}, True),
    ],
)
@pytest.mark.django_db
def test_values_are_counted_outside_of_texts(client: Client, document: Any, refused: bool) -> None:
    answer = client.post("/auth/login", document, content_type="application/json")
    assert answer.status_code == 400
    assert (answer.json()["message"] == "The body has more than 50,000 values.") is refused


@pytest.mark.long
def test_pictures_are_decoded_one_at_a_time() -> None:
    with ThreadPoolExecutor(1) as pool:
        with pictures.decoding:
            decoded = pool.submit(decode, upload())
            with pytest.raises(TimeoutError):
                decoded.result(0.2)
        assert decoded.result(10).width == 32
