"""How much memory hostile answers can make a dispatcher take."""

from collections.abc import Iterator, Sequence

from benchmarks import shops
from benchmarks.dispatchers import dispatching
from benchmarks.options import Options
from benchmarks.processes import Process, wait_for
from benchmarks.results import Goal, Row, number
from webhooks.models import Attempt, Webhook

ANSWERS = 64
HOSTILE = ("endless", "bomb", "drip")


def memory(options: Options) -> Iterator[Row]:
    """64 at once that are endless, packed tightly, or drip; to 64 that are harmless."""
    harmless = shops.endpoints([options.sink.url(f"instant/{n}") for n in range(ANSWERS)])
    hostile = shops.endpoints([options.sink.url(f"{HOSTILE[n % 3]}/{n}") for n in range(ANSWERS)])
    shops.forget_deliveries()
    with dispatching(options.folder, 1) as dispatchers:
        (process,) = dispatchers.processes
        _answered(harmless, ANSWERS * 4)  # warms it up
        usual = _growth(process, harmless)
        grown = _growth(process, hostile)
        dispatchers.kill()
    dripped = Attempt.objects.filter(delivery__webhook__url__contains="/drip/").values_list(
        "duration_ms", flat=True
    )
    yield Row(
        f"Memory growth with {ANSWERS} hostile answers at once",
        f"{number(usual)} MB",
        f"{number(grown)} MB",
        grown,
        Goal(64, 32, unit=" MB"),
        note=f"Dripping headers were given up after {min(dripped)} to {max(dripped)} ms.",
    )


def _growth(process: Process, webhooks: Sequence[Webhook]) -> float:
    """MB between what the process has now and the most it has until all have answered or been given up."""
    process.reset_peak()
    before = process.resident()
    _answered(webhooks, len(webhooks))
    return process.resident("VmHWM") - before


def _answered(webhooks: Sequence[Webhook], count: int) -> None:
    goal = Attempt.objects.count() + count
    shops.add_due(webhooks, count)
    wait_for(lambda: Attempt.objects.count() >= goal, 30, "the attempts")
