"""What the pages of merchants share."""

from typing import Final

GET_OR_POST: Final = ("GET", "HEAD", "POST")
UNPROCESSABLE: Final = 422
ROWS: Final = 25  # on a page of a list
