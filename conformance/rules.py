"""The rules that a check tries. Each has a section in `docs/check-rules.md`, to which findings link."""

from dataclasses import dataclass
from typing import Final

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Rule:
    id: str
    title: str  # what an app does that follows it

    @property
    def address(self) -> str:
        """Of its section in the documentation."""
        return f"{settings.BASE_URL}/docs/guides/check-rules/#{self.id.lower()}"


RULES: Final = {
    rule.id: rule
    for rule in (
        Rule("IN001", "Installs by the code that its Redirect URL receives"),
        Rule("IN002", "Survives a Redirect URL that is opened twice"),
        Rule("IN003", "Refuses a state that it didn't issue to this browser"),
        Rule("IN004", "Shows a page when the merchant cancels"),
        Rule("WH001", "Accepts a valid delivery"),
        Rule("WH002", "Refuses a delivery that is signed with another secret"),
        Rule("WH003", "Refuses a delivery whose body was changed"),
        Rule("WH004", "Refuses a delivery without a complete signature"),
        Rule("WH005", "Refuses a delivery that is ten minutes old"),
        Rule("WH006", "Refuses a delivery from the future"),
        Rule("WH007", "Refuses a delivery whose timestamp was changed"),
        Rule("WH008", "Accepts a repeated delivery, and handles it once"),
        Rule("WH009", "Accepts each event that it receives"),
        Rule("WH010", "Accepts an event that it doesn't know"),
        Rule("WH011", "Accepts fields that it doesn't know"),
        Rule("WH012", "Accepts events out of order"),
        Rule("HK001", "Responds to each hook within its timeout"),
        Rule("HK002", "Responds to each hook with what the hook point expects"),
        Rule("HK003", "Refuses a hook call that is signed with another secret"),
        Rule("HK004", "Refuses a hook call without a signature"),
        Rule("HK005", "Refuses a hook call that is ten minutes old"),
        Rule("HK006", "Refuses a hook call whose body was changed"),
        Rule("FR001", "Lets the platform and its stores frame its pages"),
        Rule("FR002", "Serves its scripts as JavaScript"),
        Rule("FR003", "Looks at the origin of messages"),
        Rule("TK001", "Copes with an access token that stopped working"),
        Rule("LC001", "Can be installed again after an uninstall"),
        Rule("LC002", "Works after it was installed again"),
        Rule("LC003", "Refuses the secret of an installation that ended"),
        Rule("LC004", "Can be installed again after an erasure"),
        Rule("ER001", "Refuses a forged erasure"),
        Rule("ER002", "Confirms an erasure"),
        Rule("ER003", "Confirms a repeated erasure"),
        Rule("ER004", "Confirms the erasure of a customer"),
    )
}
LATE: Final = Rule("LATE", "Answers all requests of the check within 90 seconds")
"""What a run that wasn't finished in time broke; it is tried by every request, and has no finding of its own."""
