"""What each figure has to find: deliberate defects, as changes of the source, and the figure that turns red by each.

Those of one group are in one run. They must not hide one another: a lost order has no total, and a database that is behind hides what is
late.
"""

from typing import Final

from tools.soak.defects import around, engine, week
from tools.soak.defects.defect import Defect

__all__ = ["DEFECTS", "Defect"]

DEFECTS: Final = around.DEFECTS | engine.DEFECTS | week.DEFECTS
