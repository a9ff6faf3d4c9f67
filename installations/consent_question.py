"""What a merchant is asked when an app wants more: the difference first, and what a no means."""

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from installations.models import Installation
from installations.queries import asked_scopes, granted_by, scope_reason
from marketplace.scopes import SCOPES, Scope, in_order


@dataclass(frozen=True, slots=True)
class Question:
    """`version` is the approval that the question shows: a yes to another one is not taken."""

    installation: Installation
    version: int
    added: list[Scope]
    kept: list[Scope]
    reason: str
    allowed_at: datetime  # the newest consent so far
    declined_at: datetime | None
    rests: bool  # after a no: no banner asks again so soon

    @property
    def scopes(self) -> list[str]:
        """What the app may do after a yes: what is shown, and no more."""
        return in_order({scope.name for scope in (*self.added, *self.kept)})


def question_of(installation: Installation, now: datetime | None = None) -> Question | None:
    """The question that is open for an installation; None where nothing is asked."""
    version = installation.app.approved_version
    if not installation.asks_for_consent or version is None:
        return None
    entries = granted_by(installation).values()
    return Question(
        installation=installation,
        version=version.number,
        added=[SCOPES[name] for name in asked_scopes(installation)],
        kept=[SCOPES[name] for name in installation.effective_scopes],
        reason=scope_reason(installation),
        allowed_at=max((entry.at for entry in entries), default=installation.installed_at),
        declined_at=installation.reconsent_declined_at,
        rests=installation.rests_after_decline(now or timezone.now()),
    )
