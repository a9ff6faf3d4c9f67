"""Trying a hook: the real URL, a signed request, and the answer compared with the expected one, field by field.

It uses the same transport and rules as a real call. It is not recorded and doesn't affect the breaker.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

import orjson
from django.utils import timezone

from common import strangers
from common.errors import Conflict, TooManyRequests
from common.http.exchanges import Exchange
from common.web.limits import consume
from extensions.definitions import hook as read_hook
from extensions.definitions import hook_address
from extensions.hooks import relaying
from extensions.hooks.answers import AnswerProblem, BadAnswer, parse, problems_of
from extensions.hooks.calling import Pending, begin, check_exchange, compose
from extensions.hooks.schemas import ANSWER_SCHEMAS, ATTRIBUTES, REQUEST_SCHEMAS, SHOPPER
from extensions.models import Definition
from installations.models import Installation
from stores.hookpoints import HookPoint

PER_MINUTE: Final = 20
MOST_ITEMS: Final = 10  # entries of a list that are shown
MOST_PROBLEMS: Final = 50
_WORDS: Final = {
    "string": "text",
    "integer": "whole number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
}


@dataclass(frozen=True, slots=True)
class AnswerField:
    """One field of the expected answer. `given` is its JSON, None if it is missing."""

    path: str
    expected: str
    required: bool
    given: str | None
    problem: str


@dataclass(frozen=True, slots=True)
class SimulatedCall:
    """The result. `failure` is why a checkout would count it as a failure, empty if it would use the answer."""

    url: str
    request: str
    headers: Mapping[str, str]
    exchange: Exchange
    timeout_ms: int
    failure: str = ""
    fields: list[AnswerField] = field(default_factory=list)
    problems: list[AnswerProblem] = field(default_factory=list)  # problems without a field

    @property
    def share_of_timeout(self) -> int:
        """Percent, at most 100."""
        return min(100, round(100 * self.exchange.duration_ms / self.timeout_ms))


def example_data(point: HookPoint, installation: Installation | None) -> dict[str, Any]:
    """The schema's example, with the installation's business."""
    example: dict[str, Any] = dict(REQUEST_SCHEMAS[point]["examples"][0])
    if installation and "businessId" in example:
        example["businessId"] = str(installation.business_id)
    return example


def example_answer(point: HookPoint) -> dict[str, Any]:
    example: dict[str, Any] = ANSWER_SCHEMAS[point]["examples"][0]
    return example


def try_hook(*, definition: Definition, installation: Installation, data: Mapping[str, Any]) -> SimulatedCall:
    """Call it now, signed with the installation's secret. Waits as long as the hook's timeout.

    Raises `Conflict` if the app has no Webhook URL, `TooManyRequests` above 20 calls a minute, and `strangers.NoPlace`.
    """
    if not installation.webhook_url:
        raise Conflict("The app has no Webhook URL to call.", code="no_webhook_url")
    strangers.enter(definition.app_id)
    state = consume(f"hook-trial:{definition.app_id}", limit=PER_MINUTE)
    if not state.allowed:
        raise TooManyRequests(
            f"That is more than {PER_MINUTE} calls a minute. Try again in {state.retry_after} seconds.",
            retry_after=state.retry_after,
            code="rate_limited",
        )
    hook = read_hook(definition)
    url, seconds = hook_address(installation.webhook_url, hook.path), hook.timeout / 1000
    request = compose(
        point=hook.point,
        business_id=installation.business_id,
        data=data,
        secret=installation.webhook_secret,
        now=timezone.now(),
        attributes=ATTRIBUTES["examples"][0],
        shopper=SHOPPER["examples"][0] if "read_orders" in installation.effective_scopes else None,
    )
    slot = relaying.listening(installation.business, [definition.app_id]).get(definition.app_id)
    pending: Pending
    if slot:
        pending = relaying.begin(definition.app_id, installation.pk, slot, url, request, seconds=seconds)
    else:
        pending = begin(hook.point, url, request, seconds=seconds)
    exchange = strangers.result(pending, definition.app_id)
    common: dict[str, Any] = {
        "url": url,
        "request": orjson.dumps(orjson.loads(request.body), option=orjson.OPT_INDENT_2).decode(),
        "headers": request.headers,
        "exchange": exchange,
        "timeout_ms": hook.timeout,
    }
    try:
        check_exchange(exchange, seconds=seconds)
        answer = parse(exchange.body)
    except BadAnswer as failure:
        return SimulatedCall(**common, failure=failure.problem)
    return SimulatedCall(**common, **_examined(hook.point, answer))


def _examined(point: HookPoint, answer: Any) -> dict[str, Any]:
    problems = list(islice(problems_of(point, answer), MOST_PROBLEMS))
    fields = list(_fields(ANSWER_SCHEMAS[point], answer, "", problems)) if isinstance(answer, dict) else []
    paths = {each.path for each in fields}
    rest = [each for each in problems if each.field not in paths]
    return {"failure": str(problems[0]) if problems else "", "fields": fields, "problems": rest}


def _fields(
    schema: Mapping[str, Any], value: Mapping[str, Any], prefix: str, problems: list[AnswerProblem]
) -> Iterator[AnswerField]:
    for name, part in schema["properties"].items():
        path, required = f"{prefix}{name}", name in schema["required"]
        given = orjson.dumps(value[name]).decode() if name in value else None
        problem = next((each.message for each in problems if each.field == path), "")
        yield AnswerField(path, _expected(part), required, _shortened(given), problem)
        items = value.get(name)
        if "items" in part and isinstance(items, list):
            for index, item in enumerate(items[:MOST_ITEMS]):
                if isinstance(item, dict):
                    yield from _fields(part["items"], item, f"{path}[{index}].", problems)


def _expected(part: Mapping[str, Any]) -> str:
    kinds = part["type"] if isinstance(part["type"], list) else [part["type"]]
    words = _WORDS[kinds[0]]
    if part.get("format") == "date-time":
        return "ISO 8601 time"
    if part.get("format") == "uri":
        return "HTTPS address"
    if "minimum" in part:
        return f"{words}, {part['minimum']} or more"
    return words


def _shortened(text: str | None) -> str | None:
    return text if text is None or len(text) <= 120 else f"{text[:119]}…"
