"""The two steps of an authorization: a person's consent makes a code, and the app exchanges the code for a token. Replays of a code are distinguished from
requests that were sent at the same time (docs/decisions/0013).

The lock on the app (`marketplace.services.locks`) keeps approvals out between the consent and its rows: an approval in
between would not find the rows, and so not update them.
"""

import logging
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.core.cache import cache
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from redis.exceptions import RedisError

from accounts.models import Business, User
from common.errors import Conflict
from common.secrets import digest
from installations.models import Grant, Installation, Trial
from installations.queries import offered
from installations.services import lifecycle, sandbox
from installations.services.lifecycle import Issued, Terms
from marketplace.models import App, AppVersion
from marketplace.scopes import in_order
from marketplace.services.locks import lock_app, require_not_suspended

CODE_LIFETIME = timedelta(seconds=60)
MAX_NOTED = 2048  # characters of a refused redirect_uri


OTHER_TRIAL: Final = "This is a copy of a store on which another app is tried. Install this one on the store."


def is_tried_on(copy: Business, app: App) -> bool:
    """Whether this is the app for which the copy of a store was made."""
    return Trial.objects.open().filter(copy=copy, app=app).exists()


@transaction.atomic
def authorize(
    *,
    app: App,
    version: AppVersion | None,
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

    If the app is installed already, the consent takes effect now, on its existing token. `version` is the approved
    version that was shown, None the working copy. `narrows`: the app named these scopes, so that scopes which the
    working copy gets later aren't granted automatically. `names_redirect_uri`: the request named the Redirect URL.

    Raises `Conflict` if the app was suspended or asks for something else since the page was shown, and for a copy of a store that was made
    for another app; `NotFound` if it was deleted.
    """
    app = lock_app(app)
    require_not_suspended(app)
    now = now or timezone.now()
    _require_offered(offered(app=app, user=user), version, scopes, narrows)
    if business.copy_of_id and not is_tried_on(business, app):
        raise Conflict(OTHER_TRIAL)
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
        expires=now + CODE_LIFETIME,
        installation=_standing(app, business),
        version=version,
    )
    if grant.installation is not None:
        terms = _terms(grant, app)
        lifecycle.change_terms(installation=grant.installation, terms=terms, by=user, now=now)
    grant.save()
    return grant


def locked_grant(*, code: str, app: App) -> Grant | None:
    """The grant of a code of this app, used or not, locked until the transaction ends. None if its person's account is closed.

    It has two annotations: `superseded`, whether a later consent has taken effect, and `withdrawn`, whether the merchant
    has uninstalled the app since.
    """
    if "\0" in code:  # PostgreSQL refuses it in any text
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
        .filter(code=code, application=app, user__is_active=True)
        .first()
    )


@transaction.atomic(savepoint=False)
def exchange(*, grant: Grant, now: datetime | None = None) -> Issued:
    """Install what a locked grant consented to, or give the existing installation a new token. Marks the grant as used.

    Raises `Conflict` or `NotFound` if the app has just been suspended, deleted or uninstalled.
    """
    app = lock_app(grant.application)
    require_not_suspended(app)
    if grant.version_id == app.approved_version_id:
        app.approved_version = grant.version  # saves a query: versions don't change
    now = now or timezone.now()
    issued = _issue(grant, app, now)
    grant.installation, grant.used_at = issued.installation, now
    grant.save(update_fields=["installation", "used_at"])
    return issued


def note_redirect_uri(*, grant: Grant, redirect_uri: str) -> None:
    """Keep the `redirect_uri` of a refused exchange on the store of a check, which names it to the developer."""
    noted = redirect_uri.replace("\0", "")[:MAX_NOTED]
    Grant.objects.filter(pk=grant.pk, business__expires_at__isnull=False).update(refused_redirect_uri=noted)


@transaction.atomic
def end_token(*, grant: Grant, now: datetime | None = None) -> None:
    """Revoke the token of a code that was used again (RFC 6749 section 4.1.2), if the token is still valid.

    A newer token of the installation stays: it has another time of issue than the grant has of use.
    """
    rows = Installation.objects.active().select_for_update(no_key=True).exclude(token_digest=None)
    given = rows.filter(pk=grant.installation_id, token_issued_at=grant.used_at).first()
    if given is not None:
        lifecycle.end_token(installation=given, now=now or timezone.now())


def _issue(grant: Grant, app: App, now: datetime) -> Issued:
    """A consent that has taken effect already, or that a later one replaced, gives a token but doesn't change terms."""
    if grant.installation_id is not None or grant.superseded:
        standing = _standing(app, grant.business)
        if standing is None:
            raise Conflict("The app is no longer installed.", code="not_installed")
        return lifecycle.issue_token(installation=standing, now=now)
    terms = _terms(grant, app)
    if grant.version is not None or terms.is_review:
        return lifecycle.install(
            app=app, business=grant.business, installed_by=grant.user, terms=terms, now=now
        )
    if grant.user.is_developer:  # of the app, or this raises `NotFound`
        return sandbox.test_install(app=app, developer=grant.user, scopes=terms.narrowed_scopes, now=now)
    return sandbox.review_install(app=app, reviewer=grant.user, scopes=terms.narrowed_scopes, now=now)


def _terms(grant: Grant, app: App) -> Terms:
    """What was consented to, adapted to the locked app as it is now.

    An approval since the consent may have removed scopes, which are not granted. Scopes that it added are asked for.
    """
    scopes = grant.scope.split()
    narrowed = scopes if grant.narrows else None
    if grant.version is None:
        is_check = grant.business.expires_at is not None
        is_own = grant.user.is_developer and not is_check
        return Terms(grant.business.is_sandbox, scopes, narrowed, is_review=is_check, is_own=is_own)
    approved = set(app.approved_scopes)
    return Terms(
        is_test=grant.business.is_sandbox,
        granted_scopes=[scope for scope in scopes if scope in approved],
        narrowed_scopes=narrowed,
        left_out_scopes=in_order(set(grant.version.scopes) - set(scopes)),
        consented_at=grant.created,
        agreed_version=grant.version,
    )


def _require_offered(
    state: App | AppVersion | None, shown: AppVersion | None, scopes: Sequence[str], narrows: bool
) -> None:
    """Raises `Conflict` unless the person is offered what was shown."""
    approved = state if isinstance(state, AppVersion) else None
    if state is None or approved != shown or not _is_offered(scopes, state, narrows):
        raise Conflict("The app's request has changed.")


def _is_offered(scopes: Sequence[str], state: App | AppVersion, narrows: bool) -> bool:
    """Whether the app asks for these scopes: all of the state's, or some of them by name."""
    return set(scopes) <= set(state.scopes) if narrows else set(scopes) == set(state.scopes)


def _standing(app: App, business: Business) -> Installation | None:
    """The active installation, locked."""
    active = Installation.objects.active().with_app().select_for_update(of=("self",), no_key=True)
    return active.filter(app=app, business=business).first()


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
    """A new authorization code for a check of an app, as if the owner of a throwaway store had pressed **Install**. All scopes are granted.

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


KEPT_AFTER_EXPIRY: Final = timedelta(days=1)
BATCH: Final = 1000


def remove_old_grants(*, now: datetime | None = None, batch: int = BATCH) -> int:
    """Remove grants that are no longer needed, in batches, each with its own statement. Returns their number.

    A grant is kept for a day after it expired. A used one is kept as long as its token lives, because a replay of its code
    ends that token.
    """
    expired = Grant.objects.filter(expires__lt=(now or timezone.now()) - KEPT_AFTER_EXPIRY)
    alive = Installation.objects.filter(pk=OuterRef("installation")).exclude(token_digest=None)
    needed = Exists(alive.filter(token_issued_at=OuterRef("used_at")))
    unneeded = list(expired.exclude(needed).values_list("pk", flat=True))
    for start in range(0, len(unneeded), batch):
        Grant.objects.filter(pk__in=unneeded[start : start + batch]).delete()
    return len(unneeded)


# --- Replays of a code -------------------------------------------------------------------------------

# An app may send the same exchange several times at once. Some of these requests wait in the server's queue and are read
# after the first was answered. By the clock they look like replays, which end the token. But they arrive together and
# within seconds, so we don't treat them as replays: a use counts as a replay if it overlaps no other use, or if it arrives
# later than any queue could explain.

log = logging.getLogger(__name__)

LONGEST_QUEUE = timedelta(seconds=10)
FORGOTTEN_AFTER = 60  # seconds, for a process that died during a use
# One integer counts started uses (in steps of this) and running ones (in ones), so one round trip updates both.
STARTED = 1 << 20


@dataclass(frozen=True, slots=True)
class Use:
    key: str
    count: int  # when it started, itself included; 0 if the cache did not answer
    arrived: datetime

    def is_replay(self, exchanged_at: datetime) -> bool:
        """Whether it arrived after the exchange was recorded, and not together with other uses."""
        late = self.arrived - exchanged_at
        return late > LONGEST_QUEUE or (late >= timedelta(0) and self.is_alone())

    def is_alone(self) -> bool:
        """Whether no other use was running when it started, and none has started since.

        Always true while the cache can't be reached: then only the clock decides.
        """
        return self.count % STARTED <= 1 and _count(self.key, 0) // STARTED <= self.count // STARTED


@contextmanager
def code_use(code: str) -> Iterator[Use]:
    """Counts a use while it is answered, over all processes if they share Redis."""
    key = f"oauth-code:{digest(code)}"
    arrived = timezone.now()
    use = Use(key, _count(key, STARTED + 1), arrived)
    try:
        yield use
    finally:
        if use.count:
            _count(key, -1)


def _count(key: str, more: int) -> int:
    """Add to the count of uses and return it; 0 if the cache does not answer."""
    try:
        cache.add(key, 0, FORGOTTEN_AFTER)
        return int(cache.incr(key, more))
    except (RedisError, OSError, ValueError):  # ValueError: it expired at this moment
        log.warning("uses of a code not counted: the cache does not answer", exc_info=True)
        return 0
