"""``check``: try whether your app's server behaves as the documentation asks.

The platform makes a throwaway store, signs the requests and judges the responses. This command sends the requests, so the
server may be one that only this machine reaches.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from xml.etree import ElementTree

import requests

from extension_platform_sdk.transport import Record, Session

from .errors import CliError
from .output import add_json_argument, say, show
from .platform import Platform, app_path, signed_in
from .project import add_app_argument, chosen_app

NAME = "check"
HELP = "try whether your app's server behaves as the documentation asks"

AT_A_TIME = 8  # requests
MOST_BYTES = 700_000  # of all response bodies of a step together
HEADERS = ("content-type", "location", "content-security-policy", "x-frame-options")
MARKS = {"PASS": "ok", "WARN": "warn", "FAIL": "FAIL", "SKIPPED": "skip"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "url",
        nargs="?",
        default="",
        help="your server, such as http://localhost:3000 (default: the app's registered URLs)",
    )
    add_app_argument(parser)
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit XML, for a CI")
    parser.add_argument(
        "--verbose", action="store_true", help="print what was seen for rules that passed, too"
    )
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    began = time.monotonic()
    with signed_in() as platform:
        app = chosen_app(platform, args)
        began_check = platform.post(app_path(app, "/checks"), {"url": args.url})
        if not args.json:
            where = args.url or "its registered URLs"
            say(f"Checking {app['name']} at {where}, on a throwaway store.")
        check = finished(platform, app, began_check)
    if args.junit:
        _write_junit(args.junit, app["name"], check["results"], time.monotonic() - began)
    record = {name: check[name] for name in ("id", "status", "url", "results")}
    show(record, args, "\n".join(_lines(check["results"], verbose=args.verbose)))
    return 0 if check["status"] == "PASSED" else 1


def finished(platform: Platform, app: Record, check: Record) -> Record:
    """Send the requests of a check that has begun, step by step, and return it with its results."""
    path = app_path(app, f"/checks/{check['id']}/responses")
    with ThreadPoolExecutor(AT_A_TIME) as senders:
        while check["status"] == "RUNNING":
            most = MOST_BYTES // max(1, len(check["requests"]))
            responses = list(senders.map(_sent, check["requests"], repeat(most)))
            check = platform.post(path, {"step": check["step"], "responses": responses})
    return check


def in_short(results: Sequence[Record]) -> str:
    """Only what there is to mend, for ``dev``."""
    broken = [each for each in results if each["outcome"] in ("WARN", "FAIL")]
    if not broken:
        return f"Checked on a throwaway store: {sum(each['outcome'] == 'PASS' for each in results)} rules passed."
    lines = (line for each in broken for line in _lines_of(each))
    return "\n".join(["Checked on a throwaway store:", *lines])


def _sent(request: Record, most: int) -> Record:
    """Send one request as it is. Returns its response, or why there is none."""
    began, seconds = time.monotonic(), request["timeoutMs"] / 1000
    answer: Record = {"name": request["name"], "status": None, "durationMs": 0}
    try:
        with Session() as session:
            session.trust_env = False  # the requests carry signatures, and go nowhere else
            response = session.request(
                request["method"],
                request["url"],
                headers=request["headers"],
                data=request["body"].encode(),
                timeout=seconds,
                allow_redirects=False,
                stream=True,
            )
            body = _beginning(response, min(most, request["maxBytes"]), began + seconds)
    except requests.RequestException as error:
        answer["error"] = _reason(error)
    else:
        answer |= {"status": response.status_code, "headers": _headers(response), "body": body}
    answer["durationMs"] = round((time.monotonic() - began) * 1000)
    if answer["status"] is not None and answer["durationMs"] > request["timeoutMs"]:
        answer |= {"status": None, "error": f"no complete response in {seconds:g} seconds"}
    return answer


def _beginning(response: requests.Response, most: int, until: float) -> str:
    found = b""
    for part in response.iter_content(8192):
        found += part
        if len(found) >= most or time.monotonic() > until:
            break
    return found[:most].decode("utf-8", "replace")


def _headers(response: requests.Response) -> dict[str, str]:
    kept = {name: response.headers[name] for name in HEADERS if name in response.headers}
    cookies = ", ".join(f"{cookie.name}={cookie.value}" for cookie in response.cookies)
    return kept | ({"set-cookie": cookies} if cookies else {})


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.Timeout):
        return "it took too long"
    if isinstance(error, requests.ConnectionError):
        return "the server can't be reached"
    return type(error).__name__


def _lines(results: Sequence[Record], *, verbose: bool) -> Iterator[str]:
    """The reason for rules that weren't tried is given once, below the last of them that has it."""
    not_tried = {tuple(each["details"]): each["rule"] for each in results if each["outcome"] == "SKIPPED"}
    for result in results:
        is_last = not_tried.get(tuple(result["details"])) == result["rule"]
        yield from _lines_of(result, reason=is_last or (verbose and result["outcome"] != "SKIPPED"))
    counts = {outcome: sum(each["outcome"] == outcome for each in results) for outcome in MARKS}
    yield (
        f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['WARN']} with warnings, "
        f"{counts['SKIPPED']} not tried."
    )


def _lines_of(result: Record, *, reason: bool = True) -> Iterator[str]:
    is_broken = result["outcome"] in ("WARN", "FAIL")
    yield f"{MARKS.get(result['outcome'], result['outcome']):>4}  {result['rule']}  {result['title']}"
    if reason or is_broken:
        yield from (f"        {detail}" for detail in result["details"])
    if is_broken:
        yield f"        {result['documentation']}"


def _write_junit(file: Path, app: str, results: Sequence[Record], seconds: float) -> None:
    """One test case for each rule. A warning passes, and its details are in the output of the case."""
    suite = ElementTree.Element(
        "testsuite",
        name=f"extension-platform check: {app}",
        tests=str(len(results)),
        failures=str(sum(each["outcome"] == "FAIL" for each in results)),
        skipped=str(sum(each["outcome"] == "SKIPPED" for each in results)),
        errors="0",
        time=f"{seconds:.3f}",
    )
    for each in results:
        case = ElementTree.SubElement(
            suite, "testcase", classname="check", name=f"{each['rule']} {each['title']}"
        )
        text = _printable("\n".join([*each["details"], each["documentation"]]))
        if each["outcome"] == "FAIL":
            ElementTree.SubElement(case, "failure", message=_printable(each["details"][0])).text = text
        elif each["outcome"] == "SKIPPED":
            ElementTree.SubElement(case, "skipped", message=_printable(each["details"][0]))
        else:
            ElementTree.SubElement(case, "system-out").text = text
    try:
        ElementTree.ElementTree(suite).write(file, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise CliError(f"{file} can't be written: {error.strerror}.") from None


def _printable(text: str) -> str:
    """XML has no control characters."""
    return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)
