"""How the outcome of a hook call is shown."""

from typing import Final

from extensions.enums import CallOutcome

# Kind, icon and label of the pill.
OUTCOMES: Final = {
    CallOutcome.ANSWERED: ("ok", "check", "Answered"),
    CallOutcome.TIMEOUT: ("bad", "clock", "Timeout"),
    CallOutcome.UNREACHABLE: ("bad", "plug", "Unreachable"),
    CallOutcome.HTTP_ERROR: ("bad", "circle-x", "HTTP error"),
    CallOutcome.NOT_JSON: ("bad", "braces", "Not JSON"),
    CallOutcome.UNEXPECTED: ("bad", "braces", "Unexpected JSON"),
    CallOutcome.BREAKER_OPEN: ("neutral", "pause", "Skipped"),
    CallOutcome.NO_TIME_LEFT: ("neutral", "clock", "No time left"),
}
