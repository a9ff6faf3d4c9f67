"""`python -m extension_platform_store check`: a shop on the client passes, and each fault is named by the rule that it breaks."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from django.conf import settings
from extension_platform_store import __main__ as command
from extension_platform_store.check.door import Door
from extension_platform_store.check.driver import FUNCTIONS, driver_of
from extension_platform_store.check.rules import GROUPS
from extension_platform_store.check.run import Tried, all_rules, chosen, run_rules
from extension_platform_store.check.subject import Subject

from accounts.services import shops
from installations.models import Installation
from tests.store_client.driver import SmallDriver, stop_all
from tests.store_client.faults import FAULTS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]
SPEC = "Contract 17 Connected stores"

SCHEMA = settings.BASE_DIR / "sdk/store-python/extension_platform_store/check/schema.json"
FUNCTIONS_OF_THE_GUIDE = (
    "connect", "save_product", "delete_product", "checkout", "move_order", "erase", "dump", "open_apps", "restart_sender",
)  # fmt: skip

Check = Callable[..., list[Tried]]


@pytest.fixture
def check(
    live_server: Any, connected: shops.Connected, reader: Installation, tmp_path: Path
) -> Iterator[Check]:
    """Runs rules against a small shop with these options."""

    def run(only: Sequence[str] = (), *, patience: float = 10, **options: Any) -> list[Tried]:
        driver = SmallDriver(tmp_path, **options)
        with Door(live_server.url, connected.key) as door:
            shop = Subject(driver_of(driver), door, "main", patience)
            results = run_rules(shop, chosen(only))
        for each in results:
            print(each.outcome, each.rule.id, each.detail, f"{each.seconds:.1f} s")
        return results

    yield run
    stop_all()


@pytest.mark.long
@pytest.mark.spec(SPEC, "The check of a connected shop: one on the client passes every rule, within a minute")
def test_shop_on_the_client_passes_all_rules(check: Check) -> None:
    results = check(renders=True)
    assert {each.rule.id: each.detail for each in results if each.outcome != "PASS"} == {}
    assert sum(each.seconds for each in results) < 60


BROKEN = {
    # fault: the rules that are tried, and those of them that it breaks
    "key-in-the-url": ("CN", "CN001"),
    "gives-up-at-401": ("CN", "CN002"),
    "key-of-before": ("CN", "CN003"),
    "price-without-cents": ("RW001 RW003 RW005 RW008", "RW001"),
    "parts-of-rows": ("RW001 RW002 RW003 RW004", "RW002"),
    "version-goes-back": ("RW001 RW002 RW003 RW008 RW009", "RW003"),
    "pushes-once": ("RW", "RW004"),
    "deletion-not-pushed": ("RW001 RW003 RW005", "RW005"),
    "version-of-deleted-forgotten": ("RW001 RW003 RW005 RW006", "RW006"),
    "change-lost-in-a-hurry": ("RW001 RW007 RW008", "RW007"),
    "letters-cut": ("RW001 RW002 RW008", "RW008"),
    "refused-row-keeps-others-back": ("RW001 RW008 RW009", "RW009"),
    "retry-after-not-read": ("RW001 RW009 RW010", "RW010"),
    "orders-that-nobody-reads": ("OR001 OR002", "OR001"),
    "sum-without-fee": ("OR002", "OR002"),
    "state-not-mapped": ("OR002 OR003", "OR003"),
    "jump-not-seen": ("OR002 OR003 OR004", "OR004"),
    "cents-of-every-currency": ("MN", "MN001"),
    "discount-not-shown": ("MN", "MN002"),
    "discount-not-charged": ("MN", "MN003"),
    "quote-not-pushed": ("MN", "MN003"),
    "fee-of-its-own": ("MN", "MN004"),
    "no-budget": ("CK001 CK003 CK004", "CK001"),
    "pushes-in-the-request": ("CK001 CK002 CK003", "CK002"),
    "reason-not-shown": ("CK003 CK004", "CK003"),
    "asks-on-every-page": ("CK003 CK004", "CK004"),
    "stops-when-the-platform-fails": ("CK003 CK005", "CK005"),
    "nothing-on-the-page": ("PL", "PL001"),
    "frames-not-allowed": ("PL", "PL002"),
    "block-stays-after-pause": ("PL", "PL003"),
    "ticket-kept": ("PE", "PE001"),
    "ticket-for-anybody": ("PE", "PE002"),
    "next-dropped": ("PE", "PE003"),
    "next-elsewhere": ("PE", "PE004"),
    "old-version-in-the-answer": ("CM001 CM002", "CM001"),
    "forged-command-accepted": ("CM", "CM002"),
    "command-done-twice": ("CM", "CM003"),
    "refusal-without-a-reason": ("CM", "CM004"),
    "erasure-not-passed-on": ("EC", "EC001"),
    "erasure-leaves-the-phone": ("EC", "EC002"),
    "erased-name-pushed": ("EC", "EC003"),
    "mark-dropped-before-the-push": ("RP001 RP003", "RP001"),
    "lost-rows-not-pushed": ("RP", "RP002"),
    "unknown-rows-stay": ("RP002 RP003 RP004", "RP003"),
    "no-force": ("RP002 RP003 RP004", "RP004"),
}
OFTEN = {
    broken[:2]: fault for fault, (_, broken) in reversed(BROKEN.items())
}.values()  # one of each group; the others at night
JAPANESE = {"cents-of-every-currency"}
PATIENCE = 3  # seconds; a shop with a fault is waited for in vain


@pytest.mark.long
@pytest.mark.spec(
    SPEC, "The check of a connected shop: each rule names the shop that breaks it, and no other does"
)
@pytest.mark.parametrize(
    "fault", [pytest.param(each, marks=() if each in OFTEN else pytest.mark.slow) for each in BROKEN]
)
def test_fault_is_named_by_its_rule(check: Check, fault: str) -> None:
    only, broken = BROKEN[fault]
    options = {"currency": "JPY"} if fault in JAPANESE else {}
    results = check(only.split(), patience=PATIENCE, fault=fault, renders="stays" in fault, **options)
    assert [each.rule.id for each in results if each.outcome == "FAIL"] == [broken]
    [detail] = [each.detail for each in results if each.outcome == "FAIL"]
    assert detail.startswith("Expected")


def test_each_rule_is_proved_by_a_fault() -> None:
    assert {broken for _, broken in BROKEN.values()} == {rule.id for rule in all_rules()}
    assert set(BROKEN) == set(FAULTS)


# The command


DRIVER = """
from pathlib import Path
from tests.store_client.driver import SmallDriver, stop_all

_driver = SmallDriver(Path(__file__).parent, fault={fault!r})
for _name in ("connect", "save_product", "delete_product", "checkout", "move_order", "erase", "dump", "restart_sender"):
    globals()[_name] = getattr(_driver, _name)

def open_apps(next_page, *, signed_in):
    raise NotImplementedError("This shop has no page for apps.")
"""


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    record: dict[str, Any]
    cases: list[ElementTree.Element]


@pytest.fixture
def run_command(
    live_server: Any, connected: shops.Connected, reader: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., Ran]:  # fmt: skip
    """Runs the command with a driver of its own, and reads what it wrote."""
    monkeypatch.setenv("PLATFORM_URL", f"{live_server.url}/")
    monkeypatch.setenv("PLATFORM_KEY", connected.key)

    def run(*arguments: str, fault: str = "") -> Ran:
        driver, junit, as_json = (tmp_path / name for name in ("driver.py", "check.xml", "check.json"))
        driver.write_text(DRIVER.format(fault=fault))
        status = command.main(
            ["check", str(driver), "--junit", str(junit), "--json", str(as_json), *arguments]
        )
        record = json.loads(as_json.read_text())
        jsonschema.validate(record, json.loads(SCHEMA.read_text()))
        stop_all()
        return Ran(status, capsys.readouterr().out, record, ElementTree.parse(junit).findall("testcase"))  # noqa: S314 - ours

    return run


@pytest.mark.long
@pytest.mark.spec(
    SPEC, "`python -m extension_platform_store check DRIVER` names what failed, for people, as JSON and JUnit"
)
def test_command_names_what_failed(run_command: Callable[..., Ran]) -> None:
    ran = run_command("--only", "RW005", "--only", "pe", "--patience", "2", fault="deletion-not-pushed")
    assert ran.status == 1
    assert "FAIL  RW005  Pushes that a product was deleted\n        Expected the row of products" in ran.out
    assert "skip  PE001" in ran.out
    assert "This shop has no page for apps." in ran.out
    assert "/docs/guides/shop-rules/#rw005\n" in ran.out
    assert ran.out.endswith("0 passed, 1 failed, 4 not tried.\n")
    assert (ran.record["status"], [each["outcome"] for each in ran.record["results"]]) == (
        "FAILED", ["FAIL", *["SKIPPED"] * 4],
    )  # fmt: skip
    assert [[child.tag for child in case] for case in ran.cases] == [["failure"], *[["skipped"]] * 4]
    passed = run_command("--only", "RW005")
    assert (passed.status, passed.record["status"]) == (0, "PASSED")
    assert [[child.tag for child in case] for case in passed.cases] == [["system-out"]]


@pytest.mark.long
@pytest.mark.spec(
    SPEC, "The check tells the platform's reason, and in one place what one failed rule holds back"
)
def test_command_is_short_where_nothing_can_be_tried(
    run_command: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLATFORM_KEY", "fbsk_of_nobody")
    ran = run_command("--only", "CN", "--only", "RW", "--patience", "10")
    assert " with 401 (The key is unknown or has ended.)." in ran.out
    assert ran.out.partition("cn001\n")[2] == (
        "skip  CN002 CN003 RW001 RW002 RW003 RW004 RW005 RW006 RW007 RW008 RW009 RW010\n"
        "        They need CN001.\n0 passed, 1 failed, 12 not tried.\n"
    )


@pytest.mark.spec(SPEC, "The check exits with 2 where it can't run, and says why")
@pytest.mark.parametrize(
    ("driver", "arguments", "said"),
    [
        (
            "def connect(platform, key, secret): ...",
            [],
            "The driver has no function checkout, delete_product, dump",
        ),
        ("def connect(", [], "driver.py can't be imported: SyntaxError"),
        (None, [], "driver.py is no Python file."),
        (DRIVER.format(fault=""), ["--only", "ZZ001"], "There is no rule ZZ001."),
        (DRIVER.format(fault=""), ["--platform", ""], "The check needs a platform"),
    ],
)
def test_check_that_cannot_run(
    driver: str | None, arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("PLATFORM_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("PLATFORM_KEY", "fbsk_test")
    file = tmp_path / "driver.py"
    if driver is not None:
        file.write_text(driver)
    assert command.main(["check", str(file), *arguments]) == 2
    assert f"error: {said}" in capsys.readouterr().err.replace(f"{tmp_path}/", "")


# The guide


def test_guide_has_a_section_for_each_rule() -> None:
    text = (settings.BASE_DIR / "docs" / "shop-rules.md").read_text()
    sections = re.findall(r"^### (\w+)\n\n\*\*(.+?)\.\*\*\n\n(.+?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    assert [(rule_id, title) for rule_id, title, _ in sections] == [
        (each.id, each.title) for each in all_rules()
    ]
    assert all("**How to fix it:** " in rest for _, _, rest in sections)
    groups = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert groups[-len(GROUPS) :] == list(GROUPS.values())
    assert re.findall(r"^\| `(\w+)\(", text, re.MULTILINE) == list(FUNCTIONS_OF_THE_GUIDE)
    assert set(FUNCTIONS_OF_THE_GUIDE) == set(FUNCTIONS)
