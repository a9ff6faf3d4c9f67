"""The signature checker: whether a request came from us, and why a receiver rejects it."""

from dataclasses import dataclass
from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from common.ids import parse_id
from common.times import duration
from common.web.forms.kept import never_kept
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import GET_OR_POST
from developers.portal.access import computing_page
from developers.portal.deliveries import descriptions as delivery_descriptions
from developers.portal.deliveries import log as delivery_log
from developers.portal.deliveries.forms import SignatureForm
from developers.portal.signatures.checker import Report, examine, parse_headers
from marketplace.models import App
from webhooks.models import Delivery
from webhooks.queries import may_read_payload


@dataclass(frozen=True, slots=True)
class SignatureVerdict:
    kind: str
    title: str
    text: str


@never_kept
@sensitive_post_parameters("headers", "body", "secret", "computed")
@require_http_methods(GET_OR_POST)
@computing_page
def signature_checker(request: HttpRequest, app: App) -> HttpResponse:
    """`?delivery=` fills in a delivery of the app, and `attempt` selects one of its attempts.

    Pasted values are stored nowhere: not in the database, a log, or the browser's cache.
    """
    delivery = _delivery(request, app)
    own = delivery is not None and delivery.webhook.installation.is_test
    form = SignatureForm(
        request.POST if request.method == "POST" else None,
        has_own_secret=own,
        initial=_prefilled(request, delivery) if delivery else None,
    )
    context = {"app": app, "form": form, "delivery": delivery, "has_own_secret": own}
    if form.is_bound and form.is_valid():
        context |= _examined(form, delivery)
    status = UNPROCESSABLE if form.is_bound and not form.is_valid() else 200
    return render(request, "developers/portal/signatures/checker.html", context, status=status)


def _delivery(request: HttpRequest, app: App) -> Delivery | None:
    """The delivery to fill in, if its data may be shown. Raises `NotFound` for another app's delivery."""
    if parse_id(wanted := request.GET.get("delivery")) is None:
        return None
    delivery = delivery_log.own_delivery(app, wanted)
    return delivery if may_read_payload(delivery) else None


def _prefilled(request: HttpRequest, delivery: Delivery) -> dict[str, str]:
    attempts = delivery_log.attempts_of(delivery)
    wanted = request.GET.get("attempt", "")
    chosen = next(
        (each for each in attempts if str(each.number) == wanted), attempts[-1] if attempts else None
    )
    sent = delivery_descriptions.request_of(delivery, chosen.attempted_at if chosen else timezone.now())
    return {"headers": delivery_descriptions.header_lines(sent), "body": sent.body.decode()}


@sensitive_variables()
def _examined(form: SignatureForm, delivery: Delivery | None) -> dict[str, object]:
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


def _verdict(report: Report) -> SignatureVerdict:
    if not report.schemes:
        return SignatureVerdict("bad", "Nothing to check yet", " ".join(report.problems))
    if not any(scheme.received for scheme in report.schemes):
        return SignatureVerdict(
            "warn",
            "The headers contain no signature",
            "The value that X-Webhook-Signature must have for this body and secret is below.",
        )
    if report.is_genuine and report.is_stale:
        return SignatureVerdict(
            "warn",
            "Genuine, but too old",
            f"The signature is valid but was made {_age(report)}. Receivers should reject requests that are more than "
            "5 minutes off. Check your server's clock.",
        )
    if report.is_genuine:
        return SignatureVerdict(
            "ok", "Genuine", "Body, timestamp and secret match. Your receiver should accept this request."
        )
    mistake = " ".join(report.mistakes or ())
    return SignatureVerdict(
        "bad",
        "The signature does not match",
        mistake
        or "Either the body or the secret differs from the one that was signed, or the request didn't come from us. "
        "Copy both exactly, down to the last character.",
    )


def _age(report: Report) -> str:
    age = report.age or 0
    distance = duration(timedelta(seconds=abs(age)))
    return f"{distance} ago" if age >= 0 else f"{distance} in the future"


def _about_computed(report: Report, computed: str) -> SignatureVerdict | None:
    """The verdict on the value that the developer's code computed."""
    if not computed.strip() or not report.schemes:
        return None
    if report.mistakes is None:
        return SignatureVerdict(
            "warn",
            "None of the common mistakes produces your value",
            "Compare what your code hashes with the signed text below, byte by byte.",
        )
    if report.mistakes:
        return SignatureVerdict("bad", "This mistake produces your value", " ".join(report.mistakes))
    return SignatureVerdict("ok", "Your value is right", "Check how your code compares it with the header.")
