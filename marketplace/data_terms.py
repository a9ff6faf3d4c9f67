"""Where an app keeps the data of stores, for how long, and who else processes it (contract, section 22)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from common.text.countries import names

UNSAID: Final = "The developer hasn't said where the data goes."
MAX_COUNTRIES: Final = 30
MAX_DAYS: Final = 3650
MAX_PROCESSORS: Final = 500  # characters


@dataclass(frozen=True, slots=True)
class DataTerms:
    """What a version of an app says. `countries` are alpha-2 codes; `days` is None for as long as the app is installed."""

    countries: Sequence[str] = ()
    days: int | None = None
    processors: str = ""

    @property
    def sentences(self) -> list[str]:
        """For merchants: where the data goes, and who else processes it if the developer named somebody."""
        return [self._where(), *self._by()]

    def asks_beyond(self, agreed: "DataTerms") -> bool:
        """Whether stores that agreed to other terms have to be asked: for a country more, a longer time or other processors.

        No store is asked where the developer says something for the first time.
        """
        if agreed.countries and (set(self.countries) - set(agreed.countries) or self._is_longer(agreed)):
            return True
        return agreed.says_something and self.processors not in ("", agreed.processors)

    def is_silent_beside(self, agreed: "DataTerms") -> bool:
        """Whether these terms leave out what the others say. Stores keep those, so that later ones are compared with them."""
        if agreed.countries:
            return not self.countries
        return agreed.says_something and not self.says_something

    @property
    def says_something(self) -> bool:
        return bool(self.countries or self.processors)

    def _is_longer(self, agreed: "DataTerms") -> bool:
        if not self.countries or agreed.days is None:
            return False
        return self.days is None or self.days > agreed.days

    def _where(self) -> str:
        if not self.countries:
            return UNSAID
        where = _listed([name for code, name in names().items() if code in self.countries])
        if self.days == 0:
            return f"Your data is processed in {where} and not kept at all."
        if self.days is None:
            return f"Your data is kept in {where}, as long as the app is installed."
        return f"Your data is kept in {where}, for {days_of(self.days)}."

    def _by(self) -> list[str]:
        return [f"It is also processed by: {self.processors.rstrip('. ')}."] if self.processors else []


def days_of(number: int) -> str:
    return "1 day" if number == 1 else f"{number} days"


def _listed(words: Sequence[str]) -> str:
    """ "Germany, France and Japan"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
