"""Dashboards and alerts name metrics that there are, and each alert has its runbook."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone
from kombu import Connection
from prometheus_client.parser import text_string_to_metric_families

from accounts.models import Business
from accounts.services import confirmation
from common.http.exchanges import ErrorClass
from common.observability.metrics import (
    DELIVERY_STEPS,
    EXPORTS,
    HOOK_CALLS,
    HOOK_SECONDS,
    MAILS,
    NOT_LIMITED,
    PLACES_TAKEN,
    PUT_OFF,
    ROWS_FAILED,
    SHOP_COMMANDS,
    SHOP_SECONDS,
    TASKS,
)
from common.observability.objectives import BURNS, LEAST_BAD, OBJECTIVES, Burn
from config.celery import app as celery_app
from config.models import BackupRecord
from config.observability import gauges, scheduler_seen
from extensions.enums import ExtensionType
from extensions.models import Breaker, Definition
from installations.models import Installation
from streams.models import Stream
from tests.config.scraping import show_everything, value
from tests.webhooks.helpers import claim, published, webhook
from webhooks.models import Attempt
from webhooks.services.audit import audit

ROOT = Path(__file__).resolve().parents[2]
ALERTS = ROOT / "deploy/prometheus/alerts.yml"
DASHBOARDS = sorted((ROOT / "deploy/grafana").glob("*.json"))
METRIC = re.compile(r"extension_platform_[a-z0-9_]+")
SERIES = re.compile(rf"\b(?:{METRIC.pattern}|up)\b")
OF_A_SCRAPE = {"job", "instance"}  # what Prometheus adds to each series
SERIES_OF_A_HISTOGRAM = re.compile(r"_(bucket|count|sum)$")


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions(file: Path) -> Iterator[str]:
    yield from (target["expr"] for target in targets(file))


def targets(file: Path) -> Iterator[dict[str, str]]:
    for panel in json.loads(file.read_text())["panels"]:
        yield from panel["targets"]


def served(client: Client) -> set[str]:
    """The names that Prometheus reads, with those of counters as it stores them."""
    names = set()
    for line in client.get("/metrics").content.decode().splitlines():
        if line.startswith("# TYPE extension_platform_"):
            _, _, name, _ = line.split()
            names.add(name)
    return {name for name in names if not name.endswith("_created")}


def used() -> set[str]:
    texts = [rule["expr"] for rule in rules()]
    for file in DASHBOARDS:
        texts += expressions(file)
    return {SERIES_OF_A_HISTOGRAM.sub("", name) for text in texts for name in METRIC.findall(text)}


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """The queue of the tests' Redis."""
    settings.CELERY_BROKER_URL = settings.REDIS_URL
    monkeypatch.setattr(celery_app, "connection_for_write", lambda *_, **__: Connection(settings.REDIS_URL))


# Each with the labels of a sample.
COUNTED: dict[Any, list[str]] = {
    TASKS: ["stores.tasks.recount_totals", "failed"],
    ROWS_FAILED: ["recount_totals"],
    HOOK_CALLS: ["order.validate", "timeout"],
    HOOK_SECONDS: ["order.validate"],
    SHOP_COMMANDS: ["order.create", "done"],
    SHOP_SECONDS: ["order.create"],
    MAILS: ["failed"],
    EXPORTS: ["failed"],
    PUT_OFF: ["key"],
    PLACES_TAKEN: ["strangers"],
}


@pytest.fixture
def everything_served(
    operator: Client,
    broker: None,
    sandbox: Business,
    installation: Installation,
    monkeypatch: pytest.MonkeyPatch,
) -> Client:
    """An operator who reads every metric, each with a sample."""
    webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    attempt(published(sandbox), 200)
    monkeypatch.setattr(scheduler_seen, "_written_at", 0.0)
    scheduler_seen.sent()
    audit()
    monkeypatch.setattr(gauges, "IS_ARCHIVED", "true")
    for what in BackupRecord.What:
        BackupRecord.objects.create(what=what, at=timezone.now())
    Stream.objects.create(name="warehouse", complete_at=timezone.now())
    confirmation.mail_confirmation(email="kim@example.com")
    NOT_LIMITED.labels("apps").inc()
    DELIVERY_STEPS.observe("seen", [0.001])
    for counted, labels in COUNTED.items():
        counted.labels(*labels)
    monkeypatch.setattr(gauges, "certificate_seconds_left", lambda: {"platform.example": 86_400.0})
    operator.get("/healthz")
    return operator


@pytest.mark.django_db
@pytest.mark.postgres
@pytest.mark.redis
def test_every_metric_of_dashboards_and_alerts_is_served_and_every_served_one_is_shown(
    everything_served: Client,
) -> None:
    assert used() == served(everything_served)


@pytest.mark.django_db
@pytest.mark.postgres
@pytest.mark.redis
def test_operations_guide_names_every_metric_that_is_served(everything_served: Client, settings: Any) -> None:
    guide = (settings.BASE_DIR / "docs" / "operations-run.md").read_text()
    rows = re.findall(r"^\| (`extension_platform_.*?) \| ", guide, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(extension_platform_\w+)", row)} == served(
        everything_served
    )


@pytest.mark.django_db
@pytest.mark.postgres
@pytest.mark.redis
def test_every_label_of_dashboards_and_alerts_is_on_its_metric(everything_served: Client) -> None:
    labels = served_labels(everything_served)
    shown = [(rule["expr"], rule["annotations"]["summary"]) for rule in rules()]
    shown += [(each["expr"], each["legendFormat"]) for file in DASHBOARDS for each in targets(file)]
    for expression, text in shown:
        for series, names in labels_named(expression):
            assert names <= labels[series], expression
        texts = set(re.findall(r"\{\{ *(?:\$labels\.)?(\w+) *\}\}", text))
        assert texts <= labels_left(expression, labels), (expression, text)


def served_labels(client: Client) -> dict[str, set[str]]:
    """Those of each series, as Prometheus stores it."""
    labels = {"up": set(OF_A_SCRAPE)}
    for family in text_string_to_metric_families(client.get("/metrics").content.decode()):
        for sample in family.samples:
            labels.setdefault(sample.name, set(OF_A_SCRAPE)).update(sample.labels)
    return labels


def labels_named(expression: str) -> Iterator[tuple[str, set[str]]]:
    """Each series in a query, with the labels that the query expects on it."""
    assert not re.search(r"\b(without|on|ignoring|group_left|group_right)\b", expression), (
        "Not known here yet."
    )
    for series in SERIES.findall(expression):
        yield series, set()
    for series, selector in re.findall(rf"({SERIES.pattern})\{{(.*?)\}}", expression):
        yield series, set(re.findall(r"(\w+) *(?:=~|!~|!=|=)", selector))
    for group in re.finditer(r"\bby \((.*?)\) (?=\()", expression):
        for series in SERIES.findall(in_parentheses(expression[group.end() :])):
            yield series, set(re.findall(r"\w+", group[1]))


def in_parentheses(text: str) -> str:
    """From the first character, which opens them, to the one that closes them."""
    depth = 0
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth:
            return text[:at]
    raise AssertionError(text)


def labels_left(expression: str, labels: dict[str, set[str]]) -> set[str]:
    """On what the query returns: those of `by`, or all of a series that isn't aggregated."""
    if "(" not in expression:
        return set.union(*(labels[series] for series in SERIES.findall(expression)))
    return {name for group in re.findall(r"\bby \((.*?)\)", expression) for name in re.findall(r"\w+", group)}


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ('up{job="x"} == 0', [("up", {"job"})]),
        ('sum(rate(extension_platform_a{b!~"c|d",e="f"}[5m]))', [("extension_platform_a", {"b", "e"})]),
        (
            "max(sum by (a, b) (rate(extension_platform_a[5m]))) / max(extension_platform_b)",
            [("extension_platform_a", {"a", "b"}), ("extension_platform_b", set())],
        ),
    ],
)
def test_labels_are_found_in_queries(expression: str, named: list[tuple[str, set[str]]]) -> None:
    assert [each for each in labels_named(expression) if each[1]] == [each for each in named if each[1]]
    assert {series for series, _ in labels_named(expression)} == {series for series, _ in named}


def test_every_alert_has_a_runbook_and_every_runbook_an_alert() -> None:
    sections = re.findall(r"^## (.+)$", (ROOT / "docs/runbooks.md").read_text(), re.MULTILINE)
    assert sections == [rule["alert"] for rule in rules()]
    for rule in rules():
        assert rule["annotations"]["runbook"] == f"docs/runbooks.md#{rule['alert'].lower()}"
        assert rule["labels"]["severity"] in ("page", "ticket")


def test_budgets_burn_as_the_objectives_say() -> None:
    expressions = {rule["alert"]: " ".join(rule["expr"].split()) for rule in rules()}
    for alert in {burn.alert for burn in BURNS}:
        assert expressions[alert] == " or ".join(query_of(burn) for burn in BURNS if burn.alert == alert)


def query_of(burn: Burn) -> str:
    long, short = prometheus_time(burn.long), prometheus_time(burn.short)

    def burns(window: str) -> str:
        bad = f'sum by (objective) (rate({EVENTS}{{outcome="bad"}}[{window}]))'
        share = f"{bad} / sum by (objective) (rate({EVENTS}[{window}]))"
        return f"{share} > {burn.factor:g} * (1 - max by (objective) ({TARGET}))"

    enough = f'sum by (objective) (increase({EVENTS}{{outcome="bad"}}[{long}])) >= {LEAST_BAD}'
    return f"( {burns(long)} and {burns(short)} and {enough} )"


def prometheus_time(window: timedelta) -> str:
    minutes = window // timedelta(minutes=1)
    for unit, size in (("d", 1440), ("h", 60)):
        if minutes % size == 0:
            return f"{minutes // size}{unit}"
    return f"{minutes}m"


def test_alerts_named_in_dashboards_exist() -> None:
    named = {
        name
        for file in DASHBOARDS
        for panel in json.loads(file.read_text())["panels"]
        for name in re.findall(r"Alert (\w+)", panel["description"])
    }
    assert named <= {rule["alert"] for rule in rules()}


def test_prometheus_accepts_the_rules() -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed")
    checked = subprocess.run(
        ["promtool", "check", "rules", str(ALERTS)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


SECONDS = "extension_platform_http_seconds_bucket"
AGE = "extension_platform_audit_age_seconds"
BACKUP = "extension_platform_backup_age_seconds"
DRILL = "extension_platform_restore_drill_age_seconds"
ARCHIVE = "extension_platform_wal_archive_age_seconds"
FAILURES = "extension_platform_wal_archive_failures_total"
UP = 'up{job="extension-platform",instance="web"}'
EVENTS = "extension_platform_objective_events_total"
TARGET = "extension_platform_objective_target"
TARGETS = {each.name: each.target for each in OBJECTIVES}


def events(good: str, bad: str, objective: str = "api") -> dict[str, str]:
    """The series of an objective, given both counters by the minute."""
    return {
        f'{EVENTS}{{objective="{objective}",outcome="good"}}': good,
        f'{EVENTS}{{objective="{objective}",outcome="bad"}}': bad,
        f'{TARGET}{{objective="{objective}"}}': f"{TARGETS[objective]}x4500",
    }


# Series by the minute as promtool writes them: first value + step x times. Then hours, the alert, and for which labels it fires.
FIRES: list[tuple[dict[str, str], float, str, list[dict[str, str]]]] = [
    *(
        (
            {f'{SECONDS}{{root="{root}",le="{le}"}}': f"0+{step}x180" for le, step in slow.items()},
            2,
            "SlowRequests",
            fires,
        )
        for slow in [{"2.5": 0, "5": 0, "10": 60, "+Inf": 60}]
        for root, fires in [
            ("marketplace", [{"root": "marketplace"}]),
            ("home", [{"root": "home"}]),
            ("developer", [{"root": "developer"}]),
            ("listener", []),
            ("inbox", []),
            ("other", []),
        ]
    ),
    ({'extension_platform_http_answers_total{root="portal",status="5xx"}': "0+60x180"}, 2, "ServerErrors", [{}]),
    ({'extension_platform_http_answers_total{root="inbox",status="5xx"}': "0+60x180"}, 2, "ServerErrors", []),
    ({AGE: "0+60x1500", UP: "1x1500"}, 25, "AuditMissing", []),
    ({AGE: "0+60x1700", UP: "1x1700"}, 27, "AuditMissing", [{}]),
    ({UP: "1x1440"}, 24, "AuditMissing", []),  # a new installation, before its first night
    ({UP: "1x1700"}, 27, "AuditMissing", [{}]),
    ({AGE: "0+60x600 _x300", UP: "1x1700"}, 15, "AuditMissing", []),  # the cache was lost, and the next night is to come
    ({AGE: "0+60x60 _x1800", UP: "1x1860"}, 29, "AuditMissing", [{}]),
    ({BACKUP: "86000+60x180"}, 2, "BackupOld", []),
    ({BACKUP: "93000+60x180"}, 2, "BackupOld", [{}]),
    ({UP: "1x180"}, 2, "BackupOld", [{}]),  # none was ever recorded
    ({DRILL: "3448000+60x180"}, 2, "RestoreDrillOld", []),
    ({DRILL: "3456000+60x180"}, 2, "RestoreDrillOld", [{}]),
    ({UP: "1x180"}, 2, "RestoreDrillOld", [{}]),
    ({ARCHIVE: "0+10x60 0+60x10"}, 1, "ArchiveLate", []),
    ({ARCHIVE: "0+60x60"}, 1, "ArchiveLate", [{}]),
    ({FAILURES: "5x60"}, 1, "ArchiveFails", []),
    ({FAILURES: "5x20 6+1x40"}, 1, "ArchiveFails", [{}]),
    ({'up{job="extension-platform-workers",instance="worker"}': "0x180"}, 1, "BackgroundProcessDown",
     [{"job": "extension-platform-workers", "instance": "worker"}]),
    ({f'extension_platform_info{{version="{each}"}}': "1x180" for each in ("1.0", "1.1")}, 2, "VersionsDiffer", [{}]),
    *(
        ({f'extension_platform_deliveries_put_off_total{{reason="{reason}"}}': "0+1x180"}, 1, "DeliveriesPutOff", fires)
        for reason, fires in [("key", [{"reason": "key"}]), ("outage", [])]
    ),
    *(
        ({f'extension_platform_tasks_total{{task="t",outcome="{outcome}"}}': "0+1x180"}, 1, "TasksFail", fires)
        for outcome, fires in [("failed", [{"task": "t"}]), ("succeeded", [])]
    ),
    *(
        ({f'extension_platform_mails_total{{outcome="{outcome}"}}': values for outcome, values in series.items()},
         2, "MailsFail", fires)
        for series, fires in [
            ({"failed": "0x100 0+1x80"}, [{}]),
            ({"failed": "0x100 0 1x80", "sent": "5x180"}, [{}]),  # a small marketplace
            ({"failed": "0+1x180", "sent": "0+8x180"}, [{}]),
            ({"failed": "0+1x180", "sent": "0+10x180"}, []),
            ({"refused": "0+1x180", "sent": "5x180"}, []),
        ]
    ),
    ({'extension_platform_rows_failed_total{task="t"}': "0+1x180"}, 1, "RowsFail", [{"task": "t"}]),
    ({'extension_platform_rows_failed_total{task="t"}': "3x180"}, 1, "RowsFail", []),
    *(
        ({f'extension_platform_threads{{job="{job}",instance="i"}}': "8x180",
          f'extension_platform_threads_busy{{job="{job}",instance="i"}}': "8x180"}, 1, "ThreadsRunOut", fires)
        for job, fires in [("extension-platform", [{"instance": "i"}]), ("extension-platform-workers", [])]
    ),
    *(
        ({'extension_platform_disk_bytes{instance="i"}': "100x180",
          'extension_platform_disk_free_bytes{instance="i"}': f"{free}x180"}, 1, "DiskFull", fires)
        for free, fires in [(9, [{"instance": "i"}]), (11, [])]
    ),
    *(
        ({'extension_platform_certificate_seconds_left{host="h"}': f"{days * 86_400}-60x180"}, 2, "CertificateEnds", fires)
        for days, fires in [(14, [{"host": "h"}]), (15, [])]
    ),
    *(
        (events(f"0+{100_000 - bad}x400", f"0+{bad}x400", name), 6, "BudgetBurnsFast", fires)
        for name, target in TARGETS.items()
        for bad, fires in [(round(6.1e5 * (1 - target)), [{"objective": name}]), (round(5.9e5 * (1 - target)), [])]
    ),
    # A good day, and the three before it: half of the budget.
    *((events("0+9995x4400", "0+5x4400"), 73, alert, []) for alert in ("BudgetBurnsFast", "BudgetBurnsSlowly")),
    # Half a minute of nothing but errors, in the hour before and five minutes ago.
    *((events("0+100x4400", f"0x{bad_at} 50x300"), 73, "BudgetBurnsFast", []) for bad_at in (4340, 4375)),
    (events("0+100x400", "0x330 0+50x100"), 6, "BudgetBurnsFast", [{"objective": "api"}]),
    # They were burning until half an hour ago.
    (events("0+100x400", "0x300 0+50x25 1250x100"), 6, "BudgetBurnsFast", []),
    # A quiet hour with few events: 9 of 15 are bad, then 10 of 16.
    (events("0x60 0+1x6 6x60", "0x70 0+1x9 9x60"), 1.4, "BudgetBurnsFast", []),
    (events("0x60 0+1x6 6x60", "0x70 0+1x12 12x60"), 1.4, "BudgetBurnsFast", [{"objective": "api"}]),
    (events("0+9980x4400", "0+20x4400"), 73, "BudgetBurnsFast", []),
    (events("0+9980x4400", "0+20x4400"), 73, "BudgetBurnsSlowly", [{"objective": "api"}]),
    (events("0+9980x4400", "0+20x3960 79200x440"), 73, "BudgetBurnsSlowly", []),  # over for 6 hours
]  # fmt: skip


@pytest.mark.slow
def test_alerts_fire_when_they_should(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed")
    files = [write_tests(tmp_path, rule) for rule in rules() if rule["alert"] in {row[2] for row in FIRES}]
    tested = subprocess.run(
        ["promtool", "test", "rules", *map(str, files)], capture_output=True, text=True, check=False
    )
    assert tested.returncode == 0, tested.stdout + tested.stderr


def write_tests(folder: Path, rule: dict[str, Any]) -> Path:
    """For promtool: one alert in a file of its own, or it would evaluate all of them for each minute of each row."""
    alert = rule["alert"]
    tests = [
        {
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "alert_rule_test": [{
                "eval_time": f"{round(60 * hours)}m",
                "alertname": alert,
                "exp_alerts": [{"exp_labels": rule["labels"] | labels} for labels in fires],
            }],
        }
        for series, hours, name, fires in FIRES
        if name == alert
    ]  # fmt: skip
    bare = {key: value for key, value in rule.items() if key != "annotations"}  # which hold the values
    groups = {"groups": [{"name": "rules", "rules": [bare]}]}
    (folder / f"{alert}.yml").write_text(yaml.safe_dump(groups))
    file = folder / f"{alert}_tests.yml"
    file.write_text(yaml.safe_dump({"rule_files": [f"{alert}.yml"], "tests": tests}))
    return file


def attempt(
    delivery: Any, status: int | None, *, error: str = "", number: int = 1, after: float = 0.5
) -> None:
    Attempt.objects.create(
        delivery=delivery,
        number=number,
        attempted_at=delivery.created_at + timedelta(seconds=after),
        http_status=status,
        duration_ms=20,
        error_class=error,
    )


@pytest.mark.django_db
def test_recent_attempts_are_shown_by_outcome_with_their_lag(
    operator: Client,
    sandbox: Business,
    installation: Installation,
) -> None:
    webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    late = published(sandbox)
    attempt(published(sandbox), 200)
    attempt(late, 503, after=7)
    attempt(late, None, error="timeout", number=2, after=40)
    outcome = 'extension_platform_attempts_last_minute{outcome="%s"}'
    assert [value(operator, outcome % each) for each in ("2xx", "5xx", "timeout")] == [1, 1, 1]
    assert value(operator, "extension_platform_deliveries_lag_p99_seconds") == 7  # of first attempts


@pytest.mark.django_db
def test_deliveries_in_flight_are_counted(
    operator: Client,
    sandbox: Business,
    installation: Installation,
) -> None:
    webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    published(sandbox)
    assert value(operator, "extension_platform_deliveries_in_flight") == 0
    assert claim(10, timezone.now())
    assert value(operator, "extension_platform_deliveries_in_flight") == 1


@pytest.mark.django_db
def test_breakers_are_counted_by_state(operator: Client, installation: Installation) -> None:
    now = timezone.now()
    for number, until in enumerate([None, now + timedelta(minutes=1), now - timedelta(seconds=1)]):
        hook = Definition.objects.create(
            app=installation.app, type=ExtensionType.HOOK, key=f"hook{number}", position=number, content={}
        )
        Breaker.objects.create(installation=installation, definition=hook, open_until=until, failures=5)
    states = 'extension_platform_hook_breakers{state="%s"}'
    assert [value(operator, states % each) for each in ("closed", "open", "half_open")] == [1, 1, 1]


@pytest.mark.django_db
def test_scheduler_has_a_heartbeat_once_it_sends_tasks(
    operator: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduler_seen, "_written_at", 0.0)
    name = "extension_platform_scheduler_heartbeat_age_seconds"
    cache.clear()
    assert name not in operator.get("/metrics").content.decode()
    scheduler_seen.sent()
    assert 0 <= value(operator, name) < 5


@pytest.mark.django_db
def test_source_that_is_away_takes_no_other_with_it(
    operator: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away() -> None:
        raise ConnectionError("away")

    monkeypatch.setitem(gauges.SHARED, "attempts", away)
    show_everything(monkeypatch)
    text = operator.get("/metrics").content.decode()
    assert "extension_platform_attempts_last_minute" not in text
    assert "extension_platform_dispatchers" in text


def test_runbooks_lead_somewhere() -> None:
    """Links to sections of the guides beside them."""
    text = (ROOT / "docs/runbooks.md").read_text()
    for file, anchor in re.findall(r"\]\(([a-z/.-]*)#([a-z-]+)\)", text):
        titles = re.findall(r"^#+ (.+)$", (ROOT / "docs" / (file or "runbooks.md")).read_text(), re.MULTILINE)
        anchors = {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles}
        assert anchor in anchors, (file, anchor)


@pytest.mark.django_db
@pytest.mark.postgres
def test_queries_of_runbooks_run() -> None:
    queries = re.findall(r"`(SELECT .+?;)`", (ROOT / "docs/runbooks.md").read_text())
    assert len(queries) == 4
    with connection.cursor() as cursor:
        for query in queries:
            cursor.execute(query)
            cursor.fetchall()


def test_outcomes_that_runbooks_and_alerts_name_exist() -> None:
    section = (ROOT / "docs/runbooks.md").read_text().split("## AttemptsFail", 1)[1].split("\n## ", 1)[0]
    named = set(re.findall(r"`([a-z_]+)`", section))
    assert named
    assert named <= set(get_args(ErrorClass))
