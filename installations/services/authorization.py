"""The two halves of an authorization: a person's consent gives a code, the app exchanges the code for a token.

Locks are taken in the order grant, app, business, installation. The app's lets no approval come between what
somebody agrees to and what is written down, which that approval's followers would not find.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.models import Business, User
from common.errors import Conflict
from installations.models import Grant, Installation
from installations.queries import offered
from installations.services import lifecycle, sandbox
from installations.services.lifecycle import Issued, Terms
from marketplace.models import App, AppVersion
from marketplace.services.locks import lock_app

CODE_LIFETIME = timedelta(seconds=60)


@transaction.atomic
def authorize(
    *,
    app: App,
    business: Business,
    user: User,
    scopes: Sequence[str],
    narrows: bool,
    redirect_uri: str,
    names_redirect_uri: bool,
    code: str,
    code_challenge: str = "",
    now: datetime | None = None,
) -> Grant:
    """Record a person's consent under `code`, which the app may exchange within a minute.

    Where the app is installed already, the consent takes effect here, on the token that it has. `narrows`
    says that the app named these scopes; the working copy's later ones are then not granted by themselves.
    `names_redirect_uri` says that it named the Redirect URL.

    Raises `Conflict` where the app was suspended, or came to ask for something else, at this very moment, and
    `NotFound` where it was deleted.
    """
    app = _locked(app)
    now = now or timezone.now()
    state = offered(app=app, user=user)
    if state is None or not _is_offered(scopes, state, narrows):
        raise Conflict("What the app asks for has changed.")
    grant = Grant(
        application=app,
        business=business,
        user=user,
        scope=" ".join(scopes),
        narrows=narrows,
        redirect_uri=redirect_uri,
        names_redirect_uri=names_redirect_uri,
        code=code,
        code_challenge=code_challenge,
        code_challenge_method=Grant.CODE_CHALLENGE_S256 if code_challenge else "",
        expires=now + CODE_LIFETIME,
        installation=_standing(app, business),
        version=state if isinstance(state, AppVersion) else None,
    )
    if grant.installation is not None:
        terms = _terms(grant, app)
        lifecycle.change_terms(installation=grant.installation, terms=terms, by=user, now=now)
    grant.save(force_insert=True)
    return grant


def locked_grant(*, code: str, app: App) -> Grant | None:
    """The grant of a code of this app, used or not, locked until the transaction ends.

    With `superseded`, whether a later consent has taken effect, and `withdrawn`, whether the merchant has
    uninstalled the app since.
    """
    if "\0" in code:  # which PostgreSQL takes in no text
        return None
    same = {"application": OuterRef("application"), "business": OuterRef("business")}
    active = {"installation__isnull": False, "installation__uninstalled_at": None}
    later = Grant.objects.filter(**same, **active, created__gt=OuterRef("created"))
    ended = Installation.objects.filter(
        app=OuterRef("application"),
        business=OuterRef("business"),
        uninstalled_at__gte=OuterRef("created"),
    )
    return (
        Grant.objects.select_for_update(of=("self",), no_key=True)
        .select_related("application", "version", "business", "user")
        .annotate(superseded=Exists(later), withdrawn=Exists(ended))
        .filter(code=code, application=app)
        .first()
    )


@transaction.atomic(savepoint=False)
def exchange(*, grant: Grant, now: datetime | None = None) -> Issued:
    """Install what a locked grant consented to, or give the installation a new token; the grant is used then.

    Raises `Conflict` or `NotFound` where the app was suspended, deleted or uninstalled at this very moment.
    """
    app = _locked(grant.application, known=grant.version)
    now = now or timezone.now()
    issued = _issue(grant, app, now)
    grant.installation, grant.used_at = issued.installation, now
    grant.save(update_fields=["installation", "used_at"])
    return issued


@transaction.atomic
def end_token(*, grant: Grant, now: datetime | None = None) -> None:
    """A code was used again: end the token that it gave (RFC 6749 section 4.1.2), unless that is gone already.

    A token carries the time of the exchange that gave it, by which a later one is known and left alone.
    """
    rows = Installation.objects.active().select_for_update(no_key=True).exclude(token_digest=None)
    given = rows.filter(pk=grant.installation_id, token_issued_at=grant.used_at).first()
    if given is not None:
        lifecycle.end_token(installation=given, now=now or timezone.now())


def _issue(grant: Grant, app: App, now: datetime) -> Issued:
    """A consent that has taken effect already, or that a later one replaced, brings a token and no terms."""
    if grant.installation_id is not None or grant.superseded:
        standing = _standing(app, grant.business)
        if standing is None:
            raise Conflict("The app is not installed any more.")
        return lifecycle.issue_token(installation=standing, now=now)
    terms = _terms(grant, app)
    if grant.version is None:
        return sandbox.test_install(app=app, developer=grant.user, scopes=terms.narrowed_scopes, now=now)
    return lifecycle.install(
        app=app,
        business=grant.business,
        installed_by=grant.user,
        is_test=terms.is_test,
        granted_scopes=terms.granted_scopes,
        narrowed_scopes=terms.narrowed_scopes,
        needs_reconsent=terms.needs_reconsent,
        consented_at=grant.created,
        now=now,
    )


def _terms(grant: Grant, app: App) -> Terms:
    """What was consented to, in the state that the locked app is in.

    An approval since the consent may have taken scopes away, and those that it added are still to be asked for:
    the installations that it found have been marked without this one.
    """
    scopes = grant.scope.split()
    narrowed = scopes if grant.narrows else None
    if grant.version is None:
        return Terms(grant.business.is_sandbox, scopes, narrowed)
    approved = set(app.approved_scopes)
    added = approved - set(grant.version.scopes)
    return Terms(
        is_test=grant.business.is_sandbox,
        granted_scopes=[scope for scope in scopes if scope in approved],
        narrowed_scopes=narrowed,
        needs_reconsent=bool(added) and not grant.business.is_sandbox,
    )


def _is_offered(scopes: Sequence[str], state: App | AppVersion, narrows: bool) -> bool:
    """Whether an app asks for these scopes in this state: for some of its own by name, or else for all."""
    return set(scopes) <= set(state.scopes) if narrows else set(scopes) == set(state.scopes)


def _locked(app: App, known: AppVersion | None = None) -> App:
    """The app as it is now, until the transaction ends: no approval and no suspension comes between.

    Its approved version is read only after the row is locked (a join would give the one from before the wait),
    or is the one that is `known`: versions do not change. Raises `Conflict` where the app is suspended, `NotFound`
    where it is deleted.
    """
    locked = lock_app(app)
    if locked.suspended_at is not None:
        raise Conflict("The app is suspended.")
    if known is not None and known.pk == locked.approved_version_id:
        locked.approved_version = known
    return locked


def _standing(app: App, business: Business) -> Installation | None:
    """The active installation, locked."""
    active = Installation.objects.active().with_app().select_for_update(of=("self",), no_key=True)
    return active.filter(app=app, business=business).first()
