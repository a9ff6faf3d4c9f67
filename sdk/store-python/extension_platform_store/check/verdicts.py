"""How a rule says that it failed, or that it has nothing to look at. A rule that returns has passed."""


class RuleBroken(Exception):
    """Raised by a rule: its message says what was expected, and what the shop did."""


class NotTried(Exception):
    """Raised by a rule that has nothing to look at: its message says why."""
