"""Countries by ISO 3166-1."""

from functools import cache
from typing import Final

import pycountry

CODES: Final = tuple(sorted(each.alpha_2 for each in pycountry.countries))
"""The alpha-2 codes, in capitals, by alphabet."""


@cache
def names() -> dict[str, str]:
    """By code, in the order of `CODES`: ISO's English short names without what follows a comma, so "Bolivia" and "Korea"."""
    short = {each.alpha_2: each.name.partition(",")[0] for each in pycountry.countries}
    return {code: short[code] for code in CODES}


def choices() -> list[tuple[str, str]]:
    """Codes and names for a form, by name."""
    return sorted(names().items(), key=lambda item: item[1])
