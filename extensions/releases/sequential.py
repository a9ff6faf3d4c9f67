"""Does the new version fail more often, or take longer, than the old one? Asked every few seconds, for days.

Each look at a usual test has its own chance of a false alarm, so that a harmless release would be halted sooner or later. This one may be
asked as often as one likes: it is a mixture sequential probability ratio test (Robbins, "Statistical methods related to the law of
the iterated logarithm", Annals of Mathematical Statistics 41, 1970; for comparing two versions: Johari, Koomen, Pekelis and Walsh,
"Always valid inference", Operations Research 70, 2022). The rate that both versions share is unknown, so the evidence is divided
by the likelihood of the rate that explains the data best (Wasserman, Ramdas and Balakrishnan, "Universal inference", PNAS 117,
2020):

    evidence = B(1 + f₁, 1 + n₁ - f₁) · B(1 + f₀, 1 + n₀ - f₀) / (p̂^(f₁ + f₀) · (1 - p̂)^(n₁ + n₀ - f₁ - f₀))

with f failures of n calls and p̂ the share of failures of both together. If both versions fail equally often, the numerator divided by the
likelihood of the true rate is a martingale that starts at 1, and p̂ only makes the divisor larger. So by Ville's inequality the
evidence ever reaches 1/a with a chance of at most a, at whatever times one looks.

Calls that a breaker skips are no new evidence; `_judged` says when they count.

A store's own outage, such as settings that the app can't read, falls on the version that the store happens to run. `_is_of_one_store` leaves it
out: failures of one store alone, where others run the new version well, are no evidence against the version.

Two tests share the promise of one false alarm in a hundred: failures, and calls that take longer than a bound. The bound depends on the old
version's times, so one of a fixed list is used, and each of the list has its share of that chance.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil, inf, lgamma, log
from typing import Final

from extensions.hooks.breaker import THRESHOLD

FALSE_ALARMS: Final = 0.01
LEAST_CALLS: Final = 20
SLOWER_BY: Final = 1.25
SLOWER_BY_MS: Final = 100
# Milliseconds. Steps of 3%, so that one lies between a quarter and 30% more. Nothing takes longer than ten seconds.
_BOUNDS: Final = [round(100 * 1.03**power) for power in range(157)]
_ENOUGH_FAILURES: Final = log(2 / FALSE_ALARMS)
_ENOUGH_SLOW: Final = log(2 * len(_BOUNDS) / FALSE_ALARMS)


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one version: how many took how many milliseconds, and how many failed. A call that timed out failed.

    `skipped` are calls that a breaker skipped: they count as failed, in `failed` too, and took no time.
    """

    times: Mapping[int, int] = field(default_factory=dict)
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Calls") -> "Calls":
        times = Counter(self.times) + Counter(other.times)
        return Calls(times, self.failed + other.failed, self.skipped + other.skipped)

    @property
    def made(self) -> int:
        return sum(self.times.values())

    @property
    def number(self) -> int:
        return self.made + self.skipped

    @property
    def failure_rate(self) -> float | None:
        return self.failed / self.number if self.number else None

    @property
    def p95(self) -> int | None:
        """The time that 95 of 100 calls that were made don't exceed, in milliseconds."""
        left = ceil(0.95 * self.made)
        for time in sorted(self.times):
            left -= self.times[time]
            if left <= 0:
                return time
        return None

    def over(self, bound: int) -> int:
        """How many took longer."""
        return sum(number for time, number in self.times.items() if time > bound)


def why_worse(new: Calls, old: Calls, worst: Callable[[], Calls] = Calls) -> str:
    """Why the new version is worse than the old one, as a sentence; empty while that isn't sure.

    `worst` returns the calls of the store in which the new version failed most; it is asked once the rest speaks for a halt.
    """
    if new.number < LEAST_CALLS:
        return ""
    if new.failed == new.number:
        return f"All {new.number:,} calls with the new version failed."
    failed, number, failed_before, number_before = judged = _judged(new, old)
    if evidence(*judged) >= _ENOUGH_FAILURES and not _is_of_one_store(worst(), new, old):
        return (
            f"{failed:,} of {number:,} calls failed with the new version, and {failed_before:,} of {number_before:,} with the "
            "old one."
        )
    if _is_slower(new, old):
        return f"The slowest 5% of calls take over {new.p95:,} ms with the new version, and over {old.p95:,} ms with the old one."
    return ""


def _is_of_one_store(worst: Calls, new: Calls, old: Calls) -> bool:
    """Whether the new version fails in this store alone, and others have called it often enough to know."""
    rest = Calls({0: new.made - worst.made}, new.failed - worst.failed, new.skipped - worst.skipped)
    if rest.made < LEAST_CALLS or evidence(*_judged(rest, old)) >= _ENOUGH_FAILURES:
        return False
    return _crowding(worst, new) >= _ENOUGH_FAILURES


def _crowding(worst: Calls, new: Calls) -> float:
    """How unlikely it is that so many of the failed calls are this store's, by its share of all: the exponent of Chernoff's bound."""
    failed, of_worst = new.failed - new.skipped, worst.failed - worst.skipped
    by_chance = worst.made / new.made
    share = of_worst / failed if failed else 0.0
    if share <= by_chance:
        return 0.0
    others = (1 - share) * log((1 - share) / (1 - by_chance)) if share < 1 else 0.0
    return failed * (share * log(share / by_chance) + others)


def _judged(new: Calls, old: Calls) -> tuple[int, int, int, int]:
    """Failed calls and all calls of the new version, then those of the old one.

    The calls that a breaker skips repeat the failures that opened it, so the test, which takes calls to be independent, would be wrong by
    them where failures in a row are chance: two versions that fail every other time both open breakers. So they count only where so many
    in a row would hardly be seen among all calls that were made, if both versions failed equally often.
    """
    made = new.made + old.made
    failed, failed_before = new.failed - new.skipped, old.failed - old.skipped
    by_chance = made * ((failed + failed_before) / made) ** THRESHOLD if made else 0.0
    if by_chance > FALSE_ALARMS / 2:
        return failed, new.made, failed_before, old.made
    return new.failed, new.number, old.failed, old.number


def evidence(failed: int, calls: int, failed_before: int, calls_before: int) -> float:
    """The logarithm of the evidence that the first share is higher than the second; minus infinity where it isn't."""
    if not calls_before or failed * calls_before <= failed_before * calls:
        return -inf
    of_both, number = failed + failed_before, calls + calls_before
    best = _times_log(of_both, of_both / number) + _times_log(number - of_both, 1 - of_both / number)
    return _mixed(failed, calls) + _mixed(failed_before, calls_before) - best


def _is_slower(new: Calls, old: Calls) -> bool:
    if new.p95 is None or old.p95 is None:
        return False
    least = max(SLOWER_BY * old.p95, old.p95 + SLOWER_BY_MS)
    index = bisect_left(_BOUNDS, least)
    if new.p95 <= least or index == len(_BOUNDS):
        return False
    bound = _BOUNDS[index]
    return evidence(new.over(bound), new.made, old.over(bound), old.made) >= _ENOUGH_SLOW


def _mixed(failed: int, calls: int) -> float:
    """The logarithm of the chance of such calls in this order, over all rates alike: B(1 + f, 1 + n - f)."""
    return lgamma(failed + 1) + lgamma(calls - failed + 1) - lgamma(calls + 2)


def _times_log(number: int, share: float) -> float:
    return number * log(share) if number else 0.0
