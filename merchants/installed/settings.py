"""The merchant's settings of an installed app."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from common.errors import NotFound, ServiceError
from extensions.queries import settings_schema_of
from extensions.schema_forms import SettingsForm, settings_form
from extensions.services.settings import save_settings
from installations.models import Installation
from merchants.access import MerchantRequest, app_page
from merchants.installed.app import InstalledApp
from merchants.pages.block_picker import pages_for_blocks


@require_http_methods(["GET", "HEAD", "POST"])
@app_page
def app_settings(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """The form of the app's `settingsSchema`. The buttons of a list change the form and save nothing."""
    installation = app.installation
    schema = settings_schema_of(installation.app)
    if schema is None:
        raise NotFound("This app has no settings.")
    form = settings_form(
        schema,
        values=installation.settings,
        timezone=request.business.timezone,
        data=request.POST if request.method == "POST" else None,
    )
    if form.is_valid() and _save(request, installation, form):
        messages.success(request, _saved(installation))
        return redirect("merchants:app_settings", installation.pk)
    context = {
        "app": app,
        "installation": installation,
        "form": form,
        "pages": pages_for_blocks(request.business),
    }
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "merchants/installed/settings.html", context, status=status)


def _saved(installation: Installation) -> str:
    """Apps read their settings from the API; there is no event for a change."""
    name = installation.app_fields.name
    how = " It reads them by GET /app-api/installation." if installation.business.is_sandbox else ""
    return f"Saved. {name} sees the new settings when it next reads them.{how}"


def _save(request: MerchantRequest, installation: Installation, form: SettingsForm) -> bool:
    try:
        save_settings(installation=installation, user=request.user, values=form.values)
    except (
        ServiceError
    ) as error:  # the app's schema has changed, or the app is gone, since the page was looked up
        form.add_error(None, error.message)
    return not form.errors
