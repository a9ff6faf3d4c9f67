"""Schemathesis against the live service: every endpoint of the document, with real tokens and ids, all checks on. And every endpoint of the
newest release's document, by the checks of responses.

Without more it stops after `SECONDS`, which is for CI. `CONTRACT_CASES` says instead how many cases there are for
each endpoint and phase: 200 make thousands.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from appapi import middleware
from common.web import limits
from developers import limits as developer_limits
from tests.contract import cast
from tests.receivers import Receiver
from tools.contract_changes import FOLDER, newest

HERE = Path(__file__).parent
CASES = os.environ.get("CONTRACT_CASES")
SECONDS = 90


ALL = "all"
# A status of failure that the release didn't have is an addition (tools/contract_changes.py).
OF_RESPONSES = (
    "not_a_server_error,content_type_conformance,response_headers_conformance,response_schema_conformance"
)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "released",
    [
        pytest.param(
            False,
            marks=pytest.mark.spec("Contract 7 Pages", "The service answers as the OpenAPI document says"),
        ),
        pytest.param(
            True,
            marks=pytest.mark.spec(
                "Contract 18 Contract 1.0", "And as the document of the newest release says"
            ),
        ),
    ],
    ids=["document", "release"],
)
@pytest.mark.django_db(transaction=True)
def test_service_answers_as_the_document_says(
    released: bool, live_server: Any, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Thousands of calls in a minute are what this test is for; how often one may call is tested elsewhere.
    monkeypatch.setattr(middleware, "REQUESTS_A_MINUTE", 1_000_000)
    monkeypatch.setattr(limits, "PERSON_REQUESTS", 1_000_000)
    for name in ("POLLS", "CHANGES"):
        monkeypatch.setattr(developer_limits, name, 1_000_000)
    settings.AUTH_RATE_LIMITS = False
    with Receiver() as receiver:
        made = cast.make(receiver_url=receiver.url, spare=40)
        (tmp_path / "cast.json").write_text(json.dumps(made.as_dict()))
        log = Path(os.environ.get("CONTRACT_LOG", tmp_path / "schemathesis.log"))
        with log.open("w") as output:
            run = subprocess.run(
                command(live_server.url, released=released), env=environment(made, tmp_path), cwd=tmp_path,
                stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
    told = log.read_text()
    print(told)
    assert run.returncode == 0, told[-20_000:]


def command(url: str, *, released: bool) -> list[str]:
    only = os.environ.get("CONTRACT_ONLY")
    document = str(FOLDER / f"{newest(FOLDER)}.json") if released else f"{url}/docs/openapi.json"
    return [
        sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml"),
        "run", document, "--url", url, "--checks", OF_RESPONSES if released else ALL,
        *(["--max-examples", CASES] if CASES else ["--max-examples", "3", "--max-time", str(SECONDS)]),
        "--phases", os.environ.get("CONTRACT_PHASES", "examples,coverage,fuzzing"), "--seed", "7", "--no-shrink", "--continue-on-failure", "--suppress-health-check", "all",
        *(["--include-path-regex", only] if only else []),
    ]  # fmt: skip


def environment(made: cast.Cast, folder: Path) -> dict[str, str]:
    return os.environ | {
        "SCHEMATHESIS_HOOKS": "tests.contract.hooks",
        "PYTHONPATH": str(HERE.parent.parent),
        "CONTRACT_CAST": str(folder / "cast.json"),
        "CONTRACT_ACCESS_TOKEN": made.access_token,
        "CONTRACT_DEVELOPER_TOKEN": made.developer_token,
        "CONTRACT_CLIENT_ID": made.client_id,
        "CONTRACT_CLIENT_SECRET": made.client_secret,
    }
