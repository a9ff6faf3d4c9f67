"""Checks whether an answer is what its hook point expects (contract, section 6).

It must be a JSON object that fits the point's schema, and more than a schema can express: `paymentUrl` and `icon` are
HTTPS, `expiresAt` is a valid time. An optional text that is null or empty counts as missing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson
from django.conf import settings
from jsonschema import Draft202012Validator, ValidationError

from common.http.url_policy import InvalidUrl, check_page_url
from common.text.nesting import MAX_DEPTH, is_too_deep
from common.times import parse_moment
from extensions.enums import CallOutcome
from extensions.hooks.schemas import ANSWER_SCHEMAS
from stores.hookpoints import HookPoint

MISSING: Final = "It is missing."
MAX_BYTES: Final = 64 * 1024
YEARS: Final = range(2000, 9999)  # in UTC; outside these years some time zone of a store can't show it

_VALIDATORS: Final = {point: Draft202012Validator(schema) for point, schema in ANSWER_SCHEMAS.items()}


class BadAnswer(Exception):
    """An answer that counts as a failure."""

    def __init__(self, outcome: CallOutcome, problem: str) -> None:
        self.outcome = outcome
        self.problem = problem


@dataclass(frozen=True, slots=True)
class AnswerProblem:
    """One problem. `field` is its path (`methods[0].icon`), empty for the answer as a whole."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


def read(point: HookPoint, body: bytes) -> dict[str, Any]:
    """The answer's object. Raises `BadAnswer`."""
    answer = parse(body)
    for problem in problems_of(point, answer):
        raise BadAnswer(CallOutcome.UNEXPECTED, str(problem))
    return answer


def parse(body: bytes) -> Any:
    """The JSON of an answer. Raises `BadAnswer` if it is not JSON or nested too deep."""
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadAnswer(CallOutcome.NOT_JSON, f"The answer is not JSON: {error}") from None
    if is_too_deep(body, answer):
        raise BadAnswer(CallOutcome.UNEXPECTED, f"The answer is nested more than {MAX_DEPTH} levels deep.")
    return _without_nul(answer)


def problems_of(point: HookPoint, answer: Any) -> Iterator[AnswerProblem]:
    """Every problem of a parsed answer."""
    for error in _VALIDATORS[point].iter_errors(answer):
        yield _problem(error)
    if not isinstance(answer, dict):
        return
    if point == HookPoint.PAYMENT_METHODS and isinstance(answer.get("methods"), list):
        for index, method in enumerate(answer["methods"]):
            if isinstance(method, dict):
                yield from _url_problems(f"methods[{index}].icon", method.get("icon"))
    elif point == HookPoint.CREATE_PAYMENT:
        yield from _url_problems("paymentUrl", answer.get("paymentUrl"))
        yield from _moment_problems("expiresAt", answer.get("expiresAt"))


def _problem(error: ValidationError) -> AnswerProblem:
    """A missing field is a problem of that field, not of the object around it."""
    if error.validator == "required":
        name = error.message.split("'")[1]
        return AnswerProblem(_path([*error.absolute_path, name]), MISSING)
    return AnswerProblem(_path(error.absolute_path), _shortened(error.message))


def _url_problems(field: str, url: Any) -> Iterator[AnswerProblem]:
    if not url or not isinstance(url, str):  # missing, or reported by the schema
        return
    try:
        check_page_url(url, debug=settings.DEBUG)
    except InvalidUrl as error:
        yield AnswerProblem(field, f"{error} It was {_shortened(repr(url))}.")


def _moment_problems(field: str, moment: Any) -> Iterator[AnswerProblem]:
    if not moment or not isinstance(moment, str):
        return
    try:
        year = parse_moment(moment).year
    except ValueError as error:
        yield AnswerProblem(field, f"{error} It was {_shortened(repr(moment))}.")
    else:
        if year not in YEARS:
            yield AnswerProblem(
                field, f"Enter a time from {YEARS.start} to {YEARS.stop - 1}. It was {moment}."
            )


def _path(parts: Any) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return text.removeprefix(".")


def _shortened(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:120]}…{text[-60:]}"


def _without_nul(value: Any) -> Any:
    """Text columns can't store NUL."""
    if isinstance(value, str):
        return value.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, list):
        return [_without_nul(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_nul(item) for key, item in value.items()}
    return value
