"""The signature bench: is this request ours, and if the receiver thinks not, why not."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from common.ids import parse_id
from developers import delivery_log, delivery_words
from developers.delivery_forms import BenchForm
from developers.views.access import app_page
from developers.views.apps import GET_OR_POST, UNPROCESSABLE
from marketplace.models import App
from webhooks.models import Delivery
from webhooks.signature_bench import Report, examine, parse_headers


@dataclass(frozen=True, slots=True)
class Verdict:
    kind: str
    title: str
    text: str


@sensitive_post_parameters("headers", "body", "secret", "computed")
@require_http_methods(GET_OR_POST)
@app_page
def signature_bench(request: HttpRequest, app: App) -> HttpResponse:
    """`?delivery=` fills in a delivery of the app; `attempt` says which of its attempts.

    Nothing that is pasted is written down anywhere: not in the database, a log, or the browser's cache.
    """
    delivery = _delivery(request, app)
    own = delivery is not None and delivery.webhook.installation.is_test
    form = BenchForm(
        request.POST if request.method == "POST" else None,
        has_own_secret=own,
        initial=_prefilled(request, delivery) if delivery else None,
    )
    context = {"app": app, "form": form, "delivery": delivery, "has_own_secret": own}
    if form.is_bound and form.is_valid():
        context |= _examined(form, delivery)
    wrong = form.is_bound and not form.is_valid()
    response = render(request, "developers/bench.html", context, status=UNPROCESSABLE if wrong else 200)
    add_never_cache_headers(response)
    return response


def _delivery(request: HttpRequest, app: App) -> Delivery | None:
    """Raises NotFound for another app's. One whose data is not shown fills in nothing."""
    if parse_id(wanted := request.GET.get("delivery")) is None:
        return None
    delivery = delivery_log.own_delivery(app, wanted)
    return delivery if delivery_words.may_be_shown(delivery) else None


def _prefilled(request: HttpRequest, delivery: Delivery) -> dict[str, str]:
    attempts = delivery_log.attempts_of(delivery)
    wanted = request.GET.get("attempt", "")
    chosen = next(
        (each for each in attempts if str(each.number) == wanted), attempts[-1] if attempts else None
    )
    sent = delivery_words.request_of(delivery, chosen.attempted_at if chosen else timezone.now())
    return {"headers": delivery_words.header_lines(sent), "body": sent.body.decode()}


@sensitive_variables()
def _examined(form: BenchForm, delivery: Delivery | None) -> dict[str, object]:
    given = form.cleaned_data
    secret = given["secret"] or (delivery.webhook.secret if delivery else "")
    report = examine(
        headers=parse_headers(given["headers"]),
        body=given["body"],
        secret=secret,
        computed=given["computed"],
        now=timezone.now(),
    )
    return {
        "report": report,
        "verdict": _verdict(report),
        "computed": _about_computed(report, given["computed"]),
    }


def _verdict(report: Report) -> Verdict:
    if not report.schemes:
        return Verdict("bad", "There is nothing to check yet", " ".join(report.problems))
    if not any(scheme.received for scheme in report.schemes):
        return Verdict(
            "warn",
            "There is no signature among the headers",
            "Below is the value that X-Webhook-Signature must have for this body and secret.",
        )
    if report.is_genuine and report.is_stale:
        return Verdict(
            "warn",
            "Genuine, but too old",
            f"The signature is right and was made {_age(report)}. A receiver should refuse what is more than "
            "5 minutes off; check that its clock is right.",
        )
    if report.is_genuine:
        return Verdict(
            "ok", "Genuine", "Body, timestamp and secret belong together. Your receiver should accept this."
        )
    mistake = " ".join(report.mistakes or ())
    return Verdict(
        "bad",
        "The signature does not match",
        mistake
        or "Not with this body and secret: one of them is not what was used for signing, down to the last "
        "character, or somebody else sent the request.",
    )


def _age(report: Report) -> str:
    age = report.age or 0
    words = delivery_words.duration(delivery_words.timedelta(seconds=abs(age)))
    return f"{words} ago" if age >= 0 else f"{words} in the future"


def _about_computed(report: Report, computed: str) -> Verdict | None:
    """What the developer's own value tells."""
    if not computed.strip() or not report.schemes:
        return None
    if report.mistakes is None:
        return Verdict(
            "warn",
            "Your value comes from none of the usual mistakes",
            "Compare what your code hashes with the signed text below, byte by byte.",
        )
    if report.mistakes:
        return Verdict("bad", "This gives the value that your code computed", " ".join(report.mistakes))
    return Verdict("ok", "Your value is right", "Look at how your code compares the two.")
