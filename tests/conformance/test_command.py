"""`extension-platform check`, from the command to the exit status."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from extension_platform_sdk.cli.main import main

from conformance.rules import RULES
from tests.conformance.mutants import ignores_the_timestamp
from tests.conformance.order_bell import OrderBell, SignIn
from tests.sdk.cli.json_output import validated

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]


@pytest.fixture(autouse=True)
def signed_in(sign_in: SignIn) -> None:
    sign_in()


@pytest.mark.long
def test_check_of_a_server_that_only_this_machine_reaches(
    order_bell: OrderBell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The app is registered with addresses that don't exist, and runs on localhost."""
    app = order_bell(registered="https://bell.example.com")
    file = tmp_path / "check.xml"
    status = main(["check", order_bell.address(app), "--app", app.slug, "--junit", str(file)])
    out = capsys.readouterr().out
    assert status == 0, out
    assert f"{len(RULES)} passed, 0 failed, 0 with warnings, 0 not tried." in out
    suite = ElementTree.parse(file).getroot()  # noqa: S314  our own
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == (str(len(RULES)), "0", "0")


@pytest.mark.slow
def test_failed_rules_are_named_in_the_output_and_in_junit(
    order_bell: OrderBell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    order_bell(ignores_the_timestamp)
    file = tmp_path / "check.xml"
    assert main(["check", "--junit", str(file)]) == 1
    out = capsys.readouterr().out
    assert "FAIL  WH005  Refuses a delivery that is ten minutes old" in out
    assert "/docs/guides/check-rules/#wh005" in out
    suite = ElementTree.parse(file).getroot()  # noqa: S314  our own
    failures = suite.findall("testcase/failure/..")
    assert [str(case.get("name"))[:5] for case in failures] == ["WH005", "WH006"]
    assert main(["check", "--json"]) == 1
    check = validated("check", capsys.readouterr().out)
    failed = [each["rule"] for each in check["results"] if each["outcome"] == "FAIL"]
    assert (check["status"], failed) == ("FAILED", ["WH005", "WH006"])
