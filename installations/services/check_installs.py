"""Installs for a check of an app: on a throwaway store, of the working copy or an approved version, without a consent page.

The app's server exchanges the code like any other, so it installs by its own code.
"""

import secrets
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.models import Business
from common.errors import Conflict
from installations.models import Grant, Installation
from installations.services.authorization import CODE_LIFETIME
from marketplace.models import App, AppVersion
from marketplace.services.locks import lock_app, require_not_suspended

CODE_BYTES = 24


@transaction.atomic
def agree(
    *,
    app: App,
    store: Business,
    version: AppVersion | None = None,
    redirect_uri: str,
    code_challenge: str = "",
    names_redirect_uri: bool = True,
    now: datetime | None = None,
) -> Grant:
    """A new authorization code, as if the store's owner had pressed **Install**. All scopes are granted.

    Raises `Conflict` if the app is suspended, and if the store isn't a throwaway one.
    """
    if store.expires_at is None:
        raise Conflict("Only throwaway stores agree by themselves.")
    locked = lock_app(app)
    require_not_suspended(locked, "The app is suspended, so it can't be installed.")
    now = now or timezone.now()
    return Grant.objects.create(
        application=locked,
        business=store,
        user=store.owner,
        scope=" ".join((version or locked).scopes),
        version=version,
        redirect_uri=redirect_uri,
        names_redirect_uri=names_redirect_uri,
        code=secrets.token_urlsafe(CODE_BYTES),
        code_challenge=code_challenge,
        expires=now + CODE_LIFETIME,
        installation=Installation.objects.active().filter(app=locked, business=store).first(),
    )
