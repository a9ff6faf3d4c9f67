"""The most characters that a text of people or apps may have (contract, section 15, "Lengths").

Forms, bodies and services take their maxima from here, unless a column or a rule of its own has a smaller one. `tests/test_lengths.py`
finds a field without a maximum.
"""

from typing import Final

NAME: Final = 200  # also titles and categories
PERSON: Final = 120  # names of people and stores, which are compared letter by letter
EMAIL: Final = 254
PHONE: Final = 40
ADDRESS: Final = 1_000
NOTE: Final = 2_000  # also comments and reasons
REFUND_REASON: Final = 500
DESCRIPTION: Final = 5_000  # of a product
PAGE: Final = 20_000  # the text of a store's page

PASSWORD: Final = 4_096
SEARCH: Final = 200
IDENTIFIER: Final = 200  # of an id, a code that a person types, or a slug typed to confirm
TOKEN: Final = 4_096  # of what a program passes on as it came: tokens, codes, values of OAuth
JSON: Final = 64 * 1_024  # of a value that a script of ours writes into a form
