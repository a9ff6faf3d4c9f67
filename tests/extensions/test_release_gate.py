"""When a release halts by itself (contract, section 10): harmless ones hardly ever, bad ones soon."""

import random
from collections import Counter

import pytest

from extensions.releases.sequential import Calls, why_worse

GATE = "Contract 10 Releases"
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
