"""What the pages of merchants share."""

from typing import Final

NAMED_BY: Final = "store"  # in the address: the slug of the business that the page shows
ROWS: Final = 25  # on a page of a list
