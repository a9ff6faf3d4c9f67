"""The figures of a run. Each is a function that has its limit and says what is wrong; `ALL` is their order."""

from tools.soak.figures import answers, apps, deliveries, events, machine, orders, releases, shop, week
from tools.soak.figures.finding import SLOW, Figure, Finding

__all__ = ["ALL", "SLOW", "Figure", "Finding"]

ALL: tuple[Figure, ...] = (
    *answers.FIGURES,
    *orders.FIGURES,
    *events.FIGURES,
    *deliveries.FIGURES,
    *apps.FIGURES,
    *releases.FIGURES,
    *shop.FIGURES,
    *week.FIGURES,
    *machine.FIGURES,
)
