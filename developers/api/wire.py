"""What the developer API calls things (wire contract, section 2), and what they are called in the code."""

from collections.abc import Iterable
from typing import Any, Final

from common.errors import ErrorDetail
from common.times import iso, iso_or_none
from developers.analytics import Analytics
from installations.models import Installation
from installations.services import Issued
from marketplace.models import App, Submission

WIRE_NAMES: Final = {
    "redirect_url": "redirectUrl",
    "webhook_url": "webhookUrl",
    "webhook_events": "webhookEvents",
    "how_to_test": "howToTest",
    "scope_reason": "scopeReason",
}


def app_record(app: App, manifest: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": str(app.id),
        "name": app.name,
        "slug": app.slug,
        "description": app.description,
        "category": app.category,
        "scopes": app.scopes,
        "redirectUrl": app.redirect_url,
        "webhookUrl": app.webhook_url or None,
        "webhookEvents": app.webhook_events,
        "iconUrl": app.icon_url,
        "screenshots": app.screenshot_urls,
        "version": app.version,
        "approvedScopes": app.approved_scopes,
        "status": app.status,
        "isListed": app.is_listed,
        "manifest": manifest,
        "clientId": app.client_id,
        "createdAt": iso(app.created_at),
        "updatedAt": iso(app.updated_at),
    }


def submission_record(submission: Submission) -> dict[str, Any]:
    """`notes` are null where the reviewer left none, `decidedAt` until there is a decision."""
    return {
        "id": str(submission.id),
        "status": submission.status,
        "notes": submission.notes or None,
        "version": submission.version,
        "addedScopes": submission.added_scopes,
        "removedScopes": submission.removed_scopes,
        "submittedAt": iso(submission.submitted_at),
        "decidedAt": iso_or_none(submission.decided_at),
    }


def test_install_record(issued: Issued) -> dict[str, Any]:
    """The five fields of the specification's "Developer endpoints", the credentials in clear."""
    return {
        "installationId": str(issued.installation.id),
        "accessToken": issued.access_token,
        "webhookSecret": issued.webhook_secret,
        "businessId": str(issued.installation.business_id),
        "isTestInstall": issued.installation.is_test,
    }


def test_status_record(installation: Installation | None) -> dict[str, Any]:
    if installation is None:
        return {"installed": False}
    return {
        "installed": True,
        "installationId": str(installation.id),
        "businessId": str(installation.business_id),
        "isTestInstall": installation.is_test,
        "scopes": installation.effective_scopes,
        "needsReConsent": installation.needs_reconsent,
        "installedAt": iso(installation.installed_at),
        "lastUsedAt": iso_or_none(installation.last_used_at),
    }


def test_uninstall_record(installation: Installation) -> dict[str, Any]:
    return {
        "installationId": str(installation.id),
        "uninstalledAt": iso_or_none(installation.uninstalled_at),
        "dataErasureAt": iso_or_none(installation.data_erasure_at),
    }


def analytics_record(figures: Analytics) -> dict[str, Any]:
    delivered = figures.delivered
    return {
        "totalInstalls": figures.total_installs,
        "activeInstalls": figures.active_installs,
        "webhookSuccessRate": delivered.success_rate,
        "averageWebhookLatencyMs": delivered.average_latency_ms,
        "installTrend": [
            {"date": day.date.isoformat(), "installs": day.installs, "uninstalls": day.uninstalls}
            for day in figures.installs
        ],
        "webhookDeliveries": {
            "successful": delivered.successful,
            "failed": delivered.failed,
            "daily": [
                {"date": day.date.isoformat(), "successful": day.successful, "failed": day.failed}
                for day in figures.deliveries
            ],
        },
    }


def renamed(details: Iterable[ErrorDetail]) -> list[ErrorDetail]:
    """A service's problems under the wire's names: `webhook_events[1]` is `webhookEvents[1]`."""
    return [{"field": _wire_path(detail["field"]), "message": detail["message"]} for detail in details]


def _wire_path(path: str) -> str:
    name, bracket, rest = path.partition("[")
    return WIRE_NAMES.get(name, name) + bracket + rest
