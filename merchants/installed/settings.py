"""The merchant's settings of an installed app."""

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from common.errors import NotFound
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.methods import GET_OR_POST
from extensions.schema_forms import settings_form
from extensions.services.settings import save_settings
from installations.models import Installation
from merchants.access import MerchantRequest, app_page
from merchants.installed.app import InstalledApp
from merchants.pages.block_picker import pages_for_blocks


@require_http_methods(GET_OR_POST)
@app_page
def app_settings(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """The form of the app's `settingsSchema`. The buttons of a list change the form and save nothing."""
    installation = app.installation
    schema = app.status.settings_schema
    if schema is None:
        raise NotFound("This app has no settings.")
    form = settings_form(
        schema,
        values=installation.settings,
        timezone=request.business.timezone,
        data=typed(request),
    )

    def save() -> HttpResponse:
        save_settings(installation=installation, user=request.user, values=form.values, before=form.kept)
        return done(request, _saved(installation), "merchants:app_settings", installation.pk)

    if response := saved(request, form, save):
        return response
    context = {
        "app": app,
        "installation": installation,
        "form": form,
        "pages": pages_for_blocks(request.business),
    }
    return form_page(request, "merchants/installed/settings.html", context)


def _saved(installation: Installation) -> str:
    """Apps read their settings from the API; there is no event for a change."""
    name = installation.app_fields.name
    how = " It reads them by GET /app-api/installation." if installation.business.is_sandbox else ""
    return f"Saved. {name} sees the new settings when it next reads them.{how}"
