"""What a step is: requests, and the findings of their responses."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import urljoin, urlsplit

from conformance.enums import Outcome
from conformance.probes import AppResponse, Finding, Probe, judged
from conformance.subject import Subject

NO_ANSWER = AppResponse(None, error="nothing was sent")
Answers = Mapping[str, AppResponse]


class Step:
    """The requests of a step are independent of one another, so they may be sent side by side."""

    needs_install = True  # skipped where the app couldn't be installed

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        """What to send. It may change the store first."""
        return ()

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        """Also called for a step without requests."""
        for probe in probes:
            yield judged(probe, answers.get(probe.name, NO_ANSWER))


def joined(base: str, reference: str) -> str:
    """The address that a reference on a page leads to. Empty for one that is no address."""
    try:
        url = urljoin(base, reference)
        urlsplit(url).port  # noqa: B018  raises for a wrong one
    except ValueError:
        return ""
    return url


def skipped(text: str, *rules: str) -> Iterator[Finding]:
    for rule in rules:
        yield Finding(rule, Outcome.SKIPPED, text)
