"""What a failed attempt means, in words."""

from typing import get_args

import pytest

from common.http.exchanges import ErrorClass
from webhooks.insight.diagnosis import diagnose, in_short

UNANSWERED = sorted(set(get_args(ErrorClass)) - {"redirect", "http_4xx", "http_5xx"})


def test_success_needs_no_diagnosis() -> None:
    assert diagnose(204, "") is None


@pytest.mark.parametrize("error_class", UNANSWERED)
def test_each_class_without_an_answer_has_words_of_its_own(error_class: str) -> None:
    diagnosis = diagnose(None, error_class)
    assert diagnosis
    assert "the attempt ended with" not in diagnosis.seen
    others = [diagnose(None, other) for other in UNANSWERED if other != error_class]
    assert diagnosis not in others
    assert in_short(None, error_class) != error_class


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (301, "don't follow redirects"),
        (401, "raw bytes"),
        (403, "CSRF"),
        (404, "accepts no POST"),
        (405, "accepts no POST"),
        (410, "gone for good"),
        (413, "smaller bodies"),
        (418, "refused the request"),
        (429, "limits how often"),
        (500, "failed while it handled"),
        (502, "proxy in front"),
        (799, "not a valid HTTP"),
    ],
)
def test_status_is_explained(status: int, words: str) -> None:
    diagnosis = diagnose(status, "http_4xx")
    assert diagnosis
    assert diagnosis.seen == f"your endpoint returned {status}"
    assert words in diagnosis.cause
    assert diagnosis.fix.endswith(".")
    assert in_short(status, "http_4xx") == str(status)


def test_only_answers_of_a_signature_check_lead_to_the_signature_checker() -> None:
    leading = [
        status for status in range(100, 600) if (said := diagnose(status, "x")) and said.may_be_signature
    ]
    assert leading == [400, 401, 403]


def test_late_answer_is_named_as_one() -> None:
    diagnosis = diagnose(None, "timeout_response")
    assert diagnosis
    assert "doesn't count, even if your log shows 200" in diagnosis.cause


def test_unknown_class_still_says_something() -> None:
    diagnosis = diagnose(None, "flood")
    assert diagnosis
    assert "flood" in diagnosis.seen
