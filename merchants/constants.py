"""What the pages of merchants share."""

from typing import Final

ROWS: Final = 25  # on a page of a list
