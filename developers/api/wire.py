"""What the developer API calls things (wire contract, section 2), and what they are called in the code."""

from collections.abc import Iterable
from typing import Any, Final

from common.errors import ErrorDetail
from common.times import iso, iso_or_none
from installations.models import Installation
from installations.services import Issued
from marketplace.models import App

WIRE_NAMES: Final = {
    "redirect_url": "redirectUrl",
    "webhook_url": "webhookUrl",
    "webhook_events": "webhookEvents",
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


def renamed(details: Iterable[ErrorDetail]) -> list[ErrorDetail]:
    """A service's problems under the wire's names: `webhook_events[1]` is `webhookEvents[1]`."""
    return [{"field": _wire_path(detail["field"]), "message": detail["message"]} for detail in details]


def _wire_path(path: str) -> str:
    name, bracket, rest = path.partition("[")
    return WIRE_NAMES.get(name, name) + bracket + rest
