"""What browsers load from the app: frames, scripts, and what these do with messages.

Messages are not sent: that takes a browser. The scripts of each frame are read instead. One that listens to messages and
mentions neither their origin nor their source can't have compared it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings

from common.http.framing import refusal
from conformance.enums import Expected, Outcome
from conformance.probes import AppResponse, Finding, Probe, judged
from conformance.subject import NO_ANSWER, Answers, Step, Subject, joined, skipped
from extensions.definitions import frame_url
from extensions.enums import ExtensionType
from extensions.manifest.content import Defined
from stores.addresses import stores_origin

MAX_URLS: Final = 30  # of the manifest
MAX_SCRIPTS: Final = 20  # of all frames together
MAX_SCRIPT: Final = 256 * 1024  # bytes
# Scripts are hostile: no pattern takes longer than linear time.
_LISTENS: Final = re.compile(r"""addEventListener\(\s{0,20}["'`]message["'`]|\bonmessage\s{0,20}=""")
_LOOKS: Final = re.compile(r"\borigin\b|\.source\b")
_IMPORTED: Final = re.compile(r"""\b(?:import|from)\s{0,20}\(?\s{0,20}["']([^"']{1,500})["']""")


@dataclass(frozen=True, slots=True)
class LoadedAddress:
    """What a browser would load, for the definitions that name it. `framed_by` are the origins of the pages around it."""

    url: str
    is_script: bool
    used_by: str
    framed_by: Sequence[str]


def addresses_of(all_defined: Iterable[Defined]) -> list[LoadedAddress]:
    """Each address once."""
    found: dict[tuple[str, bool], list[Defined]] = {}
    for defined in all_defined:
        for name in ("renderUrl", "scriptUrl"):
            if url := defined.content.get(name):
                found.setdefault((url, name == "scriptUrl"), []).append(defined)
    return [
        LoadedAddress(url, is_script, ", ".join(each.name for each in users), _framed_by(users))
        for (url, is_script), users in found.items()
    ]


def _framed_by(users: Iterable[Defined]) -> list[str]:
    """Merchants see admin pages, and blocks in the page editor; shoppers see blocks and widgets."""
    types = {each.type for each in users}
    origins = []
    if types & {ExtensionType.BLOCK, ExtensionType.ADMIN_PAGE}:
        origins.append(settings.BASE_URL)
    if types & {ExtensionType.BLOCK, ExtensionType.EMBED}:
        origins.append(stores_origin())
    return origins


class Pages(Step):
    needs_install = False

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        for index, address in enumerate(_addresses(subject)[:MAX_URLS]):
            url = subject.address(address.url)
            yield Probe(
                name=f"page {index}",
                rule="FR002" if address.is_script else "FR001",
                title=f"{address.used_by}: {url}",
                expected=Expected.ACCEPTED,
                method="GET",
                url=url if address.is_script else frame_url(url, subject.store),
                headers={"Accept": "*/*" if address.is_script else "text/html,*/*;q=0.8"},
                max_body=MAX_SCRIPT,
            )

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        addresses = _addresses(subject)
        reading = _Reading(subject)
        for probe, address in zip(probes, addresses, strict=False):
            answer = answers.get(probe.name, NO_ANSWER)
            yield _unusable(address, probe, answer) or judged(probe, answer)
            if not address.is_script and answer.is_success:
                reading.read_page(probe.url, answer.body)
        reading.keep()
        if len(addresses) > MAX_URLS:
            text = f"{len(addresses) - MAX_URLS} more addresses weren't tried."
            yield Finding("FR001", Outcome.WARN, text)
        scripts = [address for address in addresses if address.is_script]
        if not scripts:
            yield from skipped("The manifest has no scripts.", "FR002")
        if len(scripts) == len(addresses):
            yield from skipped("The manifest has no frames.", "FR001", "FR003")


class Scripts(Step):
    """The scripts that the pages name. A second step of this kind reads what the first ones import."""

    needs_install = False

    def prepare(self, subject: Subject) -> Iterable[Probe]:
        for index, url in enumerate(subject.state["frames"]["scripts"]):
            yield Probe(
                name=f"script {index}",
                rule="FR003",
                title=url,
                expected=Expected.ACCEPTED,
                method="GET",
                url=url,
                headers={"Accept": "*/*"},
                max_body=MAX_SCRIPT,
            )

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        reading = _Reading(subject)
        for probe in probes:
            answer = answers.get(probe.name, NO_ANSWER)
            if answer.is_success:
                reading.read_script(probe.url, answer.body)
        reading.keep()
        return iter(())


class Messages(Step):
    needs_install = False

    def judge(self, subject: Subject, probes: Sequence[Probe], answers: Answers) -> Iterator[Finding]:
        frames = subject.state["frames"]
        for name in frames["careless"]:
            text = f"{name} listens to messages, and never looks at their origin: any page could send them."
            yield Finding("FR003", Outcome.FAIL, text)
        if frames["careful"] and not frames["careless"]:
            names = ", ".join(frames["careful"])
            text = f"{names}: listens to messages and looks at their origin. This was read in the script, not tried in a browser."
            yield Finding("FR003", Outcome.PASS, text)
        elif not frames["careless"] and any(not each.is_script for each in _addresses(subject)):
            yield from skipped("No script of the frames was found to listen to messages.", "FR003")


class _Reading:
    """What is known of the scripts, kept from step to step."""

    def __init__(self, subject: Subject) -> None:
        empty: dict[str, list[str]] = {"seen": [], "careless": [], "careful": []}
        self._state = subject.state
        self._known = subject.state.get("frames", empty)
        self._next: list[str] = []

    def read_page(self, url: str, html: str) -> None:
        page = _Page()
        with suppress(AssertionError):  # of the standard library's parser, for markup that it doesn't know
            page.feed(html)
        self._judge(f"A script in {urlsplit(url).path}", "\n".join(page.inline))
        for source in page.sources:
            self._follow(url, source)
        for name in _IMPORTED.findall("\n".join(page.inline)):
            self._follow(url, name)

    def read_script(self, url: str, text: str) -> None:
        self._judge(urlsplit(url).path, text)
        for name in _IMPORTED.findall(text):
            if name.startswith((".", "/", "http")):
                self._follow(url, name)

    def keep(self) -> None:
        self._state["frames"] = self._known | {"scripts": self._next}

    def _follow(self, base: str, source: str) -> None:
        """Scripts of the app's own server. A script that others serve, such as our library, isn't the app's code."""
        url, seen = joined(base, source), self._known["seen"]
        if url and urlsplit(url)[:2] == urlsplit(base)[:2] and url not in seen and len(seen) < MAX_SCRIPTS:
            seen.append(url)
            self._next.append(url)

    def _judge(self, name: str, text: str) -> None:
        if _LISTENS.search(text):
            self._known["careful" if _LOOKS.search(text) else "careless"].append(name)


class _Page(HTMLParser):
    """The addresses and texts of a page's scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.inline: list[str] = []
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        source = dict(attrs).get("src")
        self._in_script = tag == "script" and not source
        if tag == "script" and source:
            self.sources.append(source)

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.inline.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False


def _addresses(subject: Subject) -> list[LoadedAddress]:
    return addresses_of(subject.defined)


def _unusable(address: LoadedAddress, probe: Probe, answer: AppResponse) -> Finding | None:
    """Why a browser would not use a response that arrived."""
    if answer.is_redirect:
        to = answer.headers.get("location", "")
        return Finding(probe.rule, Outcome.WARN, f"{probe.title} redirects to {to}, which wasn't followed.")
    if not answer.is_success:
        return None
    if address.is_script:
        kind = answer.headers.get("content-type", "")
        if "javascript" not in kind.lower():
            text = f"{probe.title} is served as {kind or 'no type'}, which is no JavaScript."
            return Finding(probe.rule, Outcome.FAIL, text)
        return None
    for origin in address.framed_by:
        header = refusal(
            policy=answer.headers.get("content-security-policy", ""),
            frame_options=answer.headers.get("x-frame-options", ""),
            host=origin,
        )
        if header:
            text = f"{probe.title} forbids pages of {origin} to frame it: {header}"
            return Finding(probe.rule, Outcome.FAIL, text)
    return None
