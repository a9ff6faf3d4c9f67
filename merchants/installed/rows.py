"""The rows of a list of installed apps, as their template writes them."""

from collections.abc import Iterable
from typing import Any

from django.utils.html import format_html

from common.templatetags.links import address
from common.templatetags.ui import app_icon, minute
from merchants.installed.app import InstalledApp
from merchants.templatetags.installed_apps import state_of


def app_rows(apps: Iterable[InstalledApp]) -> list[dict[str, Any]]:
    return [_row(each) for each in apps]


def _row(app: InstalledApp) -> dict[str, Any]:
    installation, fields = app.installation, app.installation.app_fields
    used, scopes = installation.last_used_at, len(installation.effective_scopes)
    return {
        "icon": app_icon(fields.name, installation.app.slug, fields.icon_path),
        "url": address("merchants:installation", installation.pk),
        "name": fields.name,
        "used": format_html("Last active {}", minute(used)) if used else "Not active yet",
        "scopes": f"{scopes} permission{'' if scopes == 1 else 's'}",
        "state": state_of(installation, app.status),
    }
