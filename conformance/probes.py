"""Requests of a check, responses, and findings, as values that fit into JSON."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from conformance.enums import Expected, Outcome

TIMEOUT: Final = 10.0  # seconds
_UNANSWERED: Final = re.compile(r": no response \(([^()]+)\)\.$")
MAX_BODY: Final = 16 * 1024  # bytes of a response that are read


@dataclass(frozen=True, slots=True)
class Probe:
    """One request. `title` says what is special about it, and begins the sentence of its finding."""

    name: str
    rule: str
    title: str
    expected: Expected
    url: str
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    seconds: float = TIMEOUT
    max_body: int = MAX_BODY
    about: str = ""  # what the step needs to know of it

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"expected": self.expected.value}


def probe_of(stored: Mapping[str, Any]) -> Probe:
    return Probe(**dict(stored) | {"expected": Expected(stored["expected"])})


@dataclass(frozen=True, slots=True)
class AppResponse:
    """The response to a probe. Without one, `status` is None and `error` says why. Header names are in lower case."""

    status: int | None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    duration_ms: int = 0
    error: str = ""

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_redirect(self) -> bool:
        return self.status is not None and 300 <= self.status < 400


@dataclass(frozen=True, slots=True)
class Finding:
    rule: str
    outcome: Outcome
    text: str

    @property
    def no_response(self) -> str:
        """Why the request had no response: `Refused`. Empty where it had one."""
        found = _UNANSWERED.search(self.text)
        return found[1] if found else ""

    def as_json(self) -> dict[str, str]:
        return {"rule": self.rule, "outcome": self.outcome.value, "text": self.text}


def findings_of(stored: Iterable[Mapping[str, str]]) -> list[Finding]:
    return [Finding(each["rule"], Outcome(each["outcome"]), each["text"]) for each in stored]


def judged(probe: Probe, answer: AppResponse) -> Finding:
    """Compares the response with the expected one."""
    if answer.status is None:
        return Finding(probe.rule, Outcome.FAIL, f"{probe.title}: no response ({answer.error}).")
    said = f"{probe.title}: responded {answer.status} in {answer.duration_ms:,} ms"
    if not _is_expected(probe.expected, answer):
        return _surprise(probe, answer, said)
    if answer.duration_ms > 500 * probe.seconds and probe.expected == Expected.ACCEPTED:
        return Finding(
            probe.rule, Outcome.WARN, f"{said}, which is more than half of {probe.seconds:g} seconds."
        )
    return Finding(probe.rule, Outcome.PASS, f"{said}.")


def _is_expected(expected: Expected, answer: AppResponse) -> bool:
    assert answer.status is not None
    if expected == Expected.REFUSED:
        return answer.status == 401
    if expected == Expected.ACCEPTED:
        return answer.is_success
    if expected == Expected.SHOWN:
        return answer.is_success or answer.is_redirect
    return answer.status < 500


def _surprise(probe: Probe, answer: AppResponse, said: str) -> Finding:
    assert answer.status is not None
    if probe.expected == Expected.REFUSED and 400 <= answer.status < 500:
        return Finding(probe.rule, Outcome.WARN, f"{said}. It is refused, but with another status than 401.")
    right = {
        Expected.REFUSED: "401",
        Expected.ACCEPTED: "2xx",
        Expected.SHOWN: "a page or a redirect",
        Expected.HANDLED: "anything below 500",
    }[probe.expected]
    return Finding(probe.rule, Outcome.FAIL, f"{said}, expected {right}.")
