"""What is added to the demo's reviews: verdicts and messages, a submission that somebody holds, a suspended app.

Like `tools.screenshots.cast`, it imports the project only inside functions.
"""

from types import SimpleNamespace

LONG_NAME = "Table cards with a name that goes on for as long as eighty characters will allow"
MESSAGES = (
    "Which account do I sign in with, and where do the notes appear?",
    "Sign in as kim@example.com.\nThe notes are under Reviews, after the first one.",
)


def add_reviews(cast: SimpleNamespace) -> None:
    from installations.services.review_installs import review_install
    from marketplace.models import Submission
    from marketplace.services import findings, reviews
    from marketplace.services.review_messages import send_message
    from tests import factories

    rae, studio = cast.rae, cast.northwind
    of = Submission.objects.filter
    cast.rounds = rounds = {
        "new": of(app=cast.notes).get(),
        "update": of(app=cast.shelf).latest("id"),
        "held": factories.submit(factories.app(studio, name=LONG_NAME, slug="cards", category="marketing")),
        "approved": of(app=cast.till).latest("id"),
        "rejected": of(app=cast.stamps, status="REJECTED").get(),
    }
    review_install(app=cast.notes, reviewer=rae)
    for author, text in zip((rae, studio), MESSAGES, strict=True):
        send_message(submission=rounds["new"], author=author, text=text)
    verdicts = {
        "functionality": {"verdict": "PASS", "note": ""},
        "security": {"verdict": "FAIL", "note": "The Webhook URL did not answer."},
    }
    findings.record_findings(submission=rounds["update"], reviewer=rae, findings=verdicts)
    of(pk=rounds["approved"].pk).update(findings=verdicts, notes="Well made.")
    reviews.take(submission=rounds["held"], reviewer=cast.otto)
    cast.mailer = factories.app(studio, name="Mail Storm", slug="mail-storm", category="marketing")
    factories.submit(cast.mailer, reviewer=rae)
    factories.approve(cast.mailer)
    reviews.suspend(app=cast.mailer, reviewer=rae, reason="Writes to customers who have not asked for it.")
