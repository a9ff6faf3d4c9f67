"""When a release halts by itself (contract, section 10): harmless ones hardly ever, bad ones soon."""

import random
from collections import Counter

import pytest

from extensions.hooks.breaker import MOST_SKIPS, THRESHOLD, pause
from extensions.releases.sequential import Calls, why_worse

GATE = "Contract 10 Releases"
DAY = 86_400  # seconds
OUTAGES = 300  # harmless releases with one each
PAIRS = 5_000  # each is two releases: either version may be the new one


def times(number: int, median: int, chance: random.Random, scatter: float = 1) -> list[int]:
    """Two of three are at most 2^scatter times as long or as short as the median."""
    return [int(median * 2 ** chance.gauss(0, scatter)) for _ in range(number)]


@pytest.mark.long
@pytest.mark.spec(GATE, "At most one in a hundred harmless releases halts")
def test_harmless_releases_go_on() -> None:
    """Of two versions that work equally well, looked at again and again, each is released in place of the other."""
    chance = random.Random(10)
    pool = times(20_000, 80, chance)
    halted = 0
    for _ in range(PAIRS):
        rate, share = chance.choice([0, 0.01, 0.1, 0.5]), chance.choice([3, 10, 30])
        one, other = Counter[int](), Counter[int]()
        failed, failed_before = 0, 0
        stopped = [False, False]
        for _look in range(8):
            one.update(chance.sample(pool, share))
            other.update(chance.sample(pool, 30))
            failed += sum(chance.random() < rate for _ in range(share))
            failed_before += sum(chance.random() < rate for _ in range(30))
            first, second = Calls(one, failed), Calls(other, failed_before)
            stopped[0] = stopped[0] or bool(why_worse(first, second))
            stopped[1] = stopped[1] or bool(why_worse(second, first))
        halted += sum(stopped)
    assert halted <= 2 * PAIRS / 100


class Store:
    """A store's hook and its breaker: after five failures in a row so many calls are skipped, then there is a trial."""

    def __init__(self) -> None:
        self.in_a_row, self.left, self.counted = 0, 0, 0
        self.is_open = False

    def ask(self, rate: float, pause: int, chance: random.Random) -> Calls:
        if self.left:
            self.left, self.counted = self.left - 1, self.counted + 1
            return Calls({}, 1, 1) if self.counted <= MOST_SKIPS else Calls()
        failed = chance.random() < rate
        self.in_a_row = self.in_a_row + 1 if failed else 0
        self.is_open = failed and (self.is_open or self.in_a_row >= THRESHOLD)
        if self.is_open:
            self.left, self.counted = pause, 0
        return Calls({50: 1}, int(failed))


@pytest.mark.long
@pytest.mark.spec(
    GATE, "At most one in a hundred harmless releases halts, with what breakers skip counted as failed"
)
@pytest.mark.parametrize(
    ("rates", "stores"), [([0, 0.01, 0.1, 0.5], [1, 3, 30]), ([0.3], [1])], ids=["many", "one store"]
)
def test_harmless_releases_go_on_with_breakers(rates: list[float], stores: list[int]) -> None:
    """Versions that fail equally often. Breakers open in both, and each may skip more calls than are made."""
    chance = random.Random(12)
    releases, halted = 3_000, 0
    for _ in range(releases):
        rate, number, pause = chance.choice(rates), chance.choice(stores), chance.choice([15, 60])
        new, old = [Store() for _ in range(number)], [Store() for _ in range(number)]
        one, other = Calls(), Calls()
        for _look in range(8):
            one = sum((chance.choice(new).ask(rate, pause, chance) for _ in range(10)), start=one)
            other = sum((chance.choice(old).ask(rate, pause, chance) for _ in range(30)), start=other)
            if why_worse(one, other):
                halted += 1
                break
    assert halted <= releases / 100


class Shop:
    """A store by the clock: its hook, and a breaker that pauses as the real one does."""

    def __init__(self) -> None:
        self.made = self.failed = self.skipped = 0
        self.in_a_row = self.openings = self.counted = 0
        self.until = 0.0

    def ask(self, now: float, *, fails: bool) -> None:
        if self.openings and now < self.until:
            counts = self.counted < MOST_SKIPS
            self.counted, self.skipped, self.failed = (
                each + counts for each in (self.counted, self.skipped, self.failed)
            )
            return
        self.made += 1
        if not fails:
            self.in_a_row = self.openings = 0
            return
        self.failed, self.in_a_row = self.failed + 1, self.in_a_row + 1
        if self.openings or self.in_a_row >= THRESHOLD:
            self.until, self.counted = now + pause(self.openings).total_seconds(), 0
            self.openings += 1


def calls_of(shops: list[Shop]) -> Calls:
    made, failed, skipped = (
        sum(getattr(each, name) for each in shops) for name in ("made", "failed", "skipped")
    )
    return Calls({50: made} if made else {}, failed, skipped)


def quiet(seconds: float, rate: float, failing: float, chance: random.Random) -> Shop:
    """A store after so many seconds without an outage."""
    shop = Shop()
    shop.made = round(seconds * rate)
    usual = chance.gauss(shop.made * failing, (shop.made * failing * (1 - failing)) ** 0.5)
    shop.failed = min(shop.made, max(0, round(usual)))
    return shop


def why_halted(chance: random.Random, inside: int, outage: str) -> str:
    """Of a harmless release in so many stores of 100. In its first day there is an outage of some minutes, of one store or of the app."""
    rate, failing = 10 ** chance.uniform(-1, 1.7), chance.choice([0, 0.01, 0.1])  # 0.1 to 50 a second
    begins, victim = chance.uniform(0, DAY), chance.randrange(100)
    ends = begins + 60 * 10 ** chance.uniform(0, 1.5)
    now = max(0.0, begins - 60)
    shops = [quiet(now, rate / 100, failing, chance) for _ in range(100)]
    new, old, look, last = shops[:inside], shops[inside:], now + 10, now + max(600, 4_000 / rate)
    while now < last:
        now += chance.expovariate(rate)
        if now >= look:
            look = now + 10
            worst = max(new, key=lambda each: each.failed)
            if why := why_worse(calls_of(new), calls_of(old), lambda worst=worst: calls_of([worst])):  # type: ignore[misc]
                return why
        number = chance.randrange(100)
        is_out = begins <= now < ends and (outage == "app" or number == victim)
        shops[number].ask(now, fails=is_out or chance.random() < failing)
    return ""


@pytest.mark.slow
@pytest.mark.spec(
    GATE,
    "At most one in a hundred harmless releases halts, with an outage of one store or of the app in each",
)
@pytest.mark.parametrize("outage", ["store", "app"])
@pytest.mark.parametrize("inside", [1, 5, 25, 50])
def test_harmless_releases_go_on_with_outages(inside: int, outage: str) -> None:
    chance = random.Random(14)
    halted = [why for _ in range(OUTAGES) if (why := why_halted(chance, inside, outage))]
    assert len(halted) <= OUTAGES / 100, halted


@pytest.mark.spec(GATE, "Failures of one store alone halt nothing where others run the new version well")
def test_outage_of_one_store() -> None:
    old, worst = Calls({50: 1_000}), Calls({50: 6}, 20, 15)
    new = worst + Calls({50: 200})
    assert why_worse(new, old)
    assert why_worse(new, old, lambda: worst) == ""
    assert why_worse(worst + Calls({50: 19}), old, lambda: worst), "others have hardly called it"
    assert why_worse(new + Calls({50: 15}, 15), old, lambda: worst), "others fail, too"
    alike = Calls({50: 40}, 4)
    assert why_worse(Calls({50: 400}, 40), old, lambda: alike), "it fails as often in every store"


@pytest.mark.spec(GATE, "Skipped calls count as failed where failures in a row are no chance")
def test_hook_that_never_answers_beside_calls_that_do() -> None:
    """Five calls failed and fifteen were skipped, in one store. Other calls of the version, such as deliveries, are as good as ever."""
    broken = Calls({50: 25}, 20, 15)
    assert why_worse(broken, Calls({50: 60})) == (
        "20 of 40 calls failed with the new version, and 0 of 60 with the old one."
    )
    often = Calls({50: 60}, 24)
    assert why_worse(broken, often) == "", (
        "so many failures in a row may be chance where two of five calls fail"
    )
    assert (broken.number, broken.failure_rate, broken.p95) == (40, 0.5, 50)
    assert why_worse(Calls({900: 5}, 20, 15) + Calls({50: 75}), Calls({50: 400}, 80)) == "", (
        "skips are no slow calls"
    )


@pytest.mark.spec(
    GATE, "A version whose every call fails is halted at its 20th call, whatever the old one has"
)
@pytest.mark.parametrize("old", [Calls(), Calls({50: 1}), Calls({50: 500}, 500)])
def test_every_call_fails(old: Calls) -> None:
    assert why_worse(Calls({30: 19}, 19), old) == ""
    assert why_worse(Calls({30: 20}, 20), old) == "All 20 calls with the new version failed."


@pytest.mark.spec(GATE, "A version that fails more often halts, with a reason in a sentence")
def test_more_failures() -> None:
    found = why_worse(Calls({50: 200}, 24), Calls({50: 1_000}, 10))
    assert found == "24 of 200 calls failed with the new version, and 10 of 1,000 with the old one."
    assert why_worse(Calls({50: 1_000}, 10), Calls({50: 200}, 24)) == "", "it fails less often"
    assert why_worse(Calls({50: 200}, 3), Calls({50: 1_000}, 10)) == "", "that may be chance"


@pytest.mark.spec(GATE, "A version is slower by more than a quarter and by more than 100 ms")
@pytest.mark.parametrize(
    ("before", "after", "halts"),
    [(100, 2_000, True), (100, 190, False), (1_000, 1_240, False), (1_000, 1_300, True), (40, 180, True)],
)
def test_slower(before: int, after: int, halts: bool) -> None:
    found = why_worse(Calls({after: 400}), Calls({before: 400}))
    assert bool(found) is halts
    if halts:
        assert f"over {after:,} ms with the new version, and over {before:,} ms" in found


@pytest.mark.long
@pytest.mark.spec(GATE, "A version that takes 1.3 times as long halts, however its times are scattered")
@pytest.mark.parametrize("scatter", [0.2, 0.5, 1])
def test_slower_with_scattered_times(scatter: float) -> None:
    chance = random.Random(3)
    new, old = Counter[int](), Counter[int]()
    for _look in range(200):
        new.update(round(1.3 * each) for each in times(20, 800, chance, scatter))
        old.update(times(20, 800, chance, scatter))
        if why_worse(Calls(new), Calls(old)):
            return
    pytest.fail(f"It goes on after {new.total():,} calls of each version.")
