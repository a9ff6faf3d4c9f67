"""Short words for tests of a merchant's pages."""

from typing import Any

from accounts.models import Business, User
from installations.models import Installation
from installations.services import Terms, install
from marketplace.models import App
from tests import factories


def page_of(installation: Installation, ending: str = "") -> str:
    return f"/merchant/apps/{installation.pk}/{ending}"


def listed_app(developer: User, scopes: list[str], **fields: Any) -> App:
    """An app of which a version is approved with these scopes."""
    app = factories.app(developer, scopes=scopes, **fields)
    factories.approve(app)
    return app


def installed(app: App, business: Business, **options: Any) -> Installation:
    """Installed by the owner, through the service; the token is on the object, as `raw_token`."""
    issued = install(
        app=app,
        business=business,
        installed_by=business.owner,
        **options,
        terms=Terms(
            is_test=business.is_sandbox,
            granted_scopes=app.approved_scopes or app.scopes,
            is_own=business.is_sandbox and business.owner_id == app.developer_id,
        ),
    )
    issued.installation.raw_token = issued.access_token  # type: ignore[attr-defined]
    return issued.installation


def ask_for_more(installation: Installation, scopes: list[str], reason: str = "") -> None:
    """The state that an approval with these scopes leaves behind, once installations have followed it."""
    app = App.objects.get(pk=installation.app_id)
    app.scopes = scopes
    app.save()
    factories.approve(app, scope_reason=reason)
    Installation.objects.filter(app=app).update(needs_reconsent=True)
