"""Installing without a consent page: what the merchant's browser would do, up to the exchange of the code."""

import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import parse_qs, urlsplit

from django.conf import settings

from conformance.enums import Expected, Outcome
from conformance.probes import AppResponse, Finding, Probe, judged
from conformance.subject import NO_ANSWER, Answers, Step, Subject, joined
from installations.models import Grant
from installations.oauth import answer_url

AUTHORIZE: Final = "/oauth/authorize"
FIRST: Final = "IN001"
PATIENCE: Final = 20.0  # seconds that a merchant waits for the page after the consent
MOST_HOPS: Final = 4  # redirects that a browser would follow until the code is exchanged
_NEXT_COOKIE: Final = re.compile(r",\s*(?=[^\s;,=]+=)")


def sequence(rule: str) -> tuple[Step, ...]:
    """The steps of one install."""
    return (Begin(rule), *(Hop(rule) for _ in range(MOST_HOPS)), Concluded(rule))


class Begin(Step):
    """As from the marketplace: the Redirect URL gets a code without a state."""

    needs_install = False

    def __init__(self, rule: str) -> None:
        self.rule = rule

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        if not _is_tried(self.rule, subject):
            return
        grant = subject.code()
        subject.state["install"] = {"cookies": {}, "next": "", "said": "", "failed": False}
        yield _visit(subject, self.rule, _with_code(subject, grant))

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        for probe in probes:
            _follow(subject, probe, answers.get(probe.name, NO_ANSWER))
        return iter(())


class Hop(Begin):
    """An app that wants a state of its own begins again: it leads the browser to our consent page."""

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        url = subject.state["install"]["next"]
        if not _is_tried(self.rule, subject) or subject.installation is not None or not url:
            return
        if address := _after(subject, url):
            yield _visit(subject, self.rule, address)


class Concluded(Step):
    """Whether the app has exchanged the code."""

    needs_install = False

    def __init__(self, rule: str) -> None:
        self.rule = rule

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        if not _is_tried(self.rule, subject):
            return
        said = subject.state["install"]["said"]
        if subject.installation is None:
            yield Finding(self.rule, Outcome.FAIL, f"{_why_not_exchanged(subject)} {said}")
        elif subject.state["install"]["failed"]:
            yield Finding(
                self.rule, Outcome.FAIL, f"The app is installed, but the merchant sees an error. {said}"
            )
        else:
            subject.state["can be installed"] = True
            yield Finding(self.rule, Outcome.PASS, f"The app exchanged the code. {said}")


class Reload(Step):
    """A browser that opens the Redirect URL again must not end the token."""

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        install = subject.state["install"]
        yield Probe(
            name="reload",
            rule="IN002",
            title="The same address, opened again",
            expected=Expected.HANDLED,
            method="GET",
            url=install["callback"],
            headers=_headers(install["cookies"]),
        )

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        yield from super().judge(subject, probes, answers)
        if subject.installed.token_digest is None:
            text = "The app sent the code to /oauth/token a second time, which ended its access token."
            yield Finding("IN002", Outcome.FAIL, text)


class ForgedState(Step):
    """Another browser's answer, and a merchant who pressed Cancel."""

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        grant = subject.code()
        subject.state["forged"] = grant.pk
        yield Probe(
            name="forged",
            rule="IN003",
            title="A code with a state of another browser",
            expected=Expected.HANDLED,
            method="GET",
            url=_with_code(subject, grant, secrets.token_urlsafe(16)),
            headers=_headers({}),
        )
        yield Probe(
            name="cancelled",
            rule="IN004",
            title="error=access_denied",
            expected=Expected.HANDLED,
            method="GET",
            url=answer_url(subject.redirect_url, [("error", "access_denied")]),
            headers=_headers({}),
        )

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        yield from super().judge(subject, probes, answers)
        if Grant.objects.filter(pk=subject.state["forged"]).exclude(used_at=None).exists():
            text = "The app exchanged the code, although the state wasn't issued to this browser: anybody could connect a store of theirs to someone else's account."
            yield Finding("IN003", Outcome.FAIL, text)


def _why_not_exchanged(subject: Subject) -> str:
    refused = Grant.objects.filter(business=subject.store, refused_redirect_uri__isnull=False).last()
    if refused is None:
        return "The app hasn't exchanged the code at /oauth/token."
    came = refused.refused_redirect_uri
    named = f"the redirect_uri {came}" if came else "no redirect_uri"
    return (
        f"The app sent the code to /oauth/token with {named}, which was refused. The code came to {refused.redirect_uri}, and the "
        "app must send that one."
    )


def _is_tried(rule: str, subject: Subject) -> bool:
    """A second install isn't tried where the first one failed."""
    return rule == FIRST or "can be installed" in subject.state


def _visit(subject: Subject, rule: str, url: str) -> Probe:
    subject.state["install"]["callback"] = url
    return Probe(
        name="visit",
        rule=rule,
        title=f"GET {urlsplit(url).path}",
        expected=Expected.SHOWN,
        method="GET",
        url=url,
        headers=_headers(subject.state["install"]["cookies"]),
        seconds=PATIENCE,
    )


def _follow(subject: Subject, probe: Probe, answer: AppResponse) -> None:
    """Keeps what the browser would keep, and where it would go."""
    install = subject.state["install"]
    finding = judged(probe, answer)
    install["said"] = f"{install['said']} {finding.text}".strip()
    install["failed"] = finding.outcome == Outcome.FAIL
    for cookie in _NEXT_COOKIE.split(answer.headers.get("set-cookie", "")):
        name, equals, value = cookie.partition(";")[0].strip().partition("=")
        if equals:
            install["cookies"][name] = value
    location = answer.headers.get("location", "") if answer.is_redirect else ""
    install["next"] = joined(probe.url, location) if location else ""


def _after(subject: Subject, url: str) -> str:
    """Where a browser ends up: a page of the app's server, or back from our consent page with a code. Empty for others."""
    parts = urlsplit(url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    if url.partition("?")[0] != settings.BASE_URL + AUTHORIZE:
        return url if parts[:2] == urlsplit(subject.redirect_url)[:2] else ""
    redirect_uri = query.get("redirect_uri", subject.redirect_url)
    if query.get("client_id") != subject.app.client_id or redirect_uri != subject.redirect_url:
        subject.state["install"]["said"] += (
            f" It leads to the consent page with client_id {query.get('client_id')} and redirect_uri {redirect_uri}, "
            f"expected {subject.app.client_id} and {subject.redirect_url}."
        )
        return ""
    grant = subject.code(
        challenge=query.get("code_challenge", ""), names_redirect_uri="redirect_uri" in query
    )
    return _with_code(subject, grant, query.get("state", ""))


def _with_code(subject: Subject, grant: Grant, state: str = "") -> str:
    return answer_url(subject.redirect_url, [("code", grant.code), *([("state", state)] if state else [])])


def _headers(cookies: dict[str, str]) -> dict[str, str]:
    headers = {"Accept": "text/html,*/*;q=0.8"}
    if cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return headers
