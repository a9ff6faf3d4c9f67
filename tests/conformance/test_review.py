"""The check of a submission: the platform's own run, as evidence on the reviewer's page."""

from __future__ import annotations

import pytest

from accounts.models import User
from conformance.rules import RULES
from developers.review.tasks import check_submissions
from marketplace.models import CheckRun, ReviewEntry
from tests import factories
from tests.conformance.mutants import ignores_the_timestamp
from tests.conformance.order_bell import OrderBell
from tests.developers.review.reviewing import JUDGED, client_of, page_of, submitted

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]


@pytest.fixture
def rae(db: None) -> User:
    return factories.reviewer("rae@example.com", name="Rae Ito", is_superuser=True)


@pytest.mark.long
@pytest.mark.spec(
    "Contract 7 Pages", "A submission's server is checked by itself, and the reviewer sees each rule"
)
def test_reviewer_sees_each_rule_with_what_was_seen(order_bell: OrderBell, rae: User) -> None:
    submission = submitted(order_bell(ignores_the_timestamp))
    calm = submission.risk
    check_submissions()
    submission.refresh_from_db()
    results = {each["title"]: each["evidence"] for each in CheckRun.objects.get().results}
    lines = {line["rule"]: line for line in results["Behavior"]}
    assert len(lines) == len(RULES)
    assert {rule for rule, line in lines.items() if line["outcome"] == "FAIL"} == {"WH005", "WH006"}
    assert "checks failed" in str(submission.risk_reasons)
    assert submission.risk > calm

    admin = client_of(rae)
    page = admin.get(page_of(submission)).text
    assert '/docs/guides/check-rules/#wh005">WH005</a>' in page
    assert "Sent ten minutes ago: responded 200" in page
    asked = admin.get(page_of(submission, "approve")).text
    assert "Refuses a delivery that is ten minutes old." in asked
    admin.post(page_of(submission, "findings"), JUDGED)
    admin.post(page_of(submission, "approve"))
    assert "Behavior" in ReviewEntry.objects.get(kind="APPROVED").note
