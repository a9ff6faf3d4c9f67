"""An endpoint as the baseline sees it. Free of Django, since the baseline is."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Target:
    """Where to, signed with what, and the headers and body that don't change from request to request."""

    url: str
    secret: str
    headers: dict[str, str]
    body: str

    def plain(self) -> dict[str, Any]:
        return asdict(self)
