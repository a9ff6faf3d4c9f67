"""Installations of apps in stores, with their credentials, and which version a store runs."""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Case, When
from django.utils import timezone

from accounts.models import Business, User
from common.db.fields import EncryptedTextField, HasItem
from common.ids import new_id
from marketplace.models import App, AppFields, AppVersion
from marketplace.scopes import in_order

# The columns that decide whether an app may be sent an event, where to, and what its token may do.
SCOPE_FIELDS = (
    "app", "business", "is_test", "is_review", "granted_scopes", "narrowed_scopes", "paused_at", "uninstalled_at",
    "is_own", "installed_by", "business__is_sandbox", "business__is_connected", "business__copy_of",
    "app__scopes", "app__webhook_url", "app__webhook_events", "app__webhook_filter", "app__suspended_at",
    "app__deleted_at", "app__approved_version", "app__rolling_version", "app__approved_version__scopes",
    "runs", "runs__scopes", "runs__webhook_url",
)  # fmt: skip


# After declining, a merchant isn't asked again by a banner for this long.
RECONSENT_REST = timedelta(days=14)

_COUNTED = models.Q(is_test=False)


def _runs_working_copy(installation: str = "") -> models.Q:
    return models.Q(**{f"{installation}is_review": True}) | models.Q(**{f"{installation}is_own": True})


# `runs_working_copy`: the same rule in SQL.
RUNS_WORKING_COPY = _runs_working_copy()


def usable(prefix: str = "", app: str = "app__") -> models.Q:
    """`Installation.is_usable` in SQL, for filters of other models too: the prefixes lead to the installation and to its app."""
    return models.Q(
        **{f"{prefix}uninstalled_at": None, f"{app}suspended_at": None, f"{app}deleted_at": None},
    )


def running(prefix: str = "", app: str = "app__") -> models.Q:
    """`Installation.is_running` in SQL, with prefixes like `usable`."""
    return usable(prefix, app) & models.Q(**{f"{prefix}paused_at": None})


def with_versions(prefix: str = "") -> tuple[str, ...]:
    """The versions that `select_related` reads: the one that the store runs and the listed one, by the path to the installation."""
    return f"{prefix}runs", f"{prefix}app__approved_version"


def is_in_release(installation: str = "", app: str = "app__") -> Case:
    """`Installation.is_in_release` in SQL, by the paths to the installation and to its app."""
    reached = {f"{installation}runs": models.F(f"{app}rolling_version")}
    return Case(When(**reached, then=True), default=False, output_field=models.BooleanField())


def _holding(scope: str, installation: str = "", app: str = "app__") -> models.Q:
    """Whether `Installation.effective_scopes` has this one, in SQL, by the paths to the installation and to its app."""
    is_test = models.Q(**{f"{installation}is_test": True})
    follows_working_copy = is_test & _runs_working_copy(installation)
    narrowed = models.Q(**{f"{installation}narrowed_scopes__isnull": True}) | models.Q(
        HasItem(f"{installation}narrowed_scopes", scope)
    )
    own = narrowed & models.Q(HasItem(f"{app}scopes", scope))
    reached = models.Q(**{f"{installation}runs": models.F(f"{app}rolling_version")})
    newest = ~reached & models.Q(HasItem(f"{app}approved_version__scopes", scope))
    released = reached & models.Q(HasItem(f"{installation}runs__scopes", scope))
    agreed = models.Q(HasItem(f"{installation}granted_scopes", scope)) & (newest | released)
    return (follows_working_copy & own) | (~follows_working_copy & agreed)


def holds(scope: str, installation: str, app: str) -> Case:
    """The same as a column, for rows of other models."""
    return Case(
        When(_holding(scope, installation, app), then=True), default=False, output_field=models.BooleanField()
    )


class InstallationQuerySet(models.QuerySet["Installation"]):
    def active(self) -> "InstallationQuerySet":
        return self.filter(uninstalled_at=None)

    def usable(self) -> "InstallationQuerySet":
        return self.filter(usable())

    def running(self) -> "InstallationQuerySet":
        return self.filter(running())

    def in_stores(self) -> "InstallationQuerySet":
        """Those that count: neither test installs nor on sandboxes, which are left out without a look at each store."""
        return self.filter(is_test=False).exclude(business__in=Business.objects.sandboxes())

    def holding(self, scope: str) -> "InstallationQuerySet":
        """Those whose `effective_scopes` have this one, for events, which ask all of a store's."""
        return self.filter(_holding(scope))

    def with_app(self) -> "InstallationQuerySet":
        """Also read what `effective_scopes` and `app_fields` use."""
        return self.select_related(*with_versions(), "business")

    def with_terms(self) -> "InstallationQuerySet":
        """With their app, but only the columns in `SCOPE_FIELDS`: for queries that read many rows."""
        return self.with_app().only(*SCOPE_FIELDS)


class Installation(models.Model):
    """One app in one store. Written only by `installations.services`.

    Only the SHA-256 of the access token is stored; null means that there is no valid token. The row is kept after the
    uninstall, because its webhook secret signs the data-erasure event.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.PROTECT, related_name="installations")
    business = models.ForeignKey(Business, on_delete=models.PROTECT, related_name="installations")
    is_test = models.BooleanField(default=False)
    is_review = models.BooleanField(
        default=False,
        db_default=False,
        help_text="On a reviewer's test store during the review, or on the throwaway store of a check: it runs the working copy.",
    )
    is_own = models.BooleanField(
        default=False,
        db_default=False,
        help_text="On the sandbox store of a member who may develop the app: it runs the working copy.",
    )
    token_digest = models.CharField(max_length=64, null=True, unique=True, editable=False)
    ended_token_digest = models.CharField(
        max_length=64,
        null=True,
        editable=False,
        db_index=True,
        help_text="Of the last token that ended, so that the log of calls knows whose it was.",
    )
    token_hint = models.CharField(max_length=8, blank=True)
    token_issued_at = models.DateTimeField(null=True, blank=True)
    webhook_secret = EncryptedTextField(editable=False)
    granted_scopes = models.JSONField(default=list)
    narrowed_scopes = models.JSONField(
        null=True,
        blank=True,
        help_text="The scope parameter of the authorization, where one was given; null grants all.",
    )
    left_out_scopes = models.JSONField(
        default=list,
        db_default=[],
        blank=True,
        help_text="What the version that was shown at the consent asked for and the app did not name. It is not asked for again.",
    )
    lost_scopes = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        editable=False,
        help_text="What the newest version took of the granted scopes, by its id: it returns if the version is taken back.",
    )
    consented_at = models.DateTimeField(
        default=timezone.now,
        help_text="When somebody agreed to these terms; the exchange of the code may have come later.",
    )
    agreed_version = models.ForeignKey(
        AppVersion,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="agreed_by",
        help_text="The approved version whose scripts, widgets and hooks the merchant agreed to; empty on the developer's own sandbox.",
    )
    runs = models.ForeignKey(
        AppVersion,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        db_column="followed_version_id",
        help_text="The approved version that the store runs; empty before the first approval. A test install may run the working copy instead.",
    )
    followed_at = models.DateTimeField(null=True, blank=True, help_text="Since when it runs that version.")
    earlier_agreed_version = models.ForeignKey(
        AppVersion,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="What it had agreed to before it followed that version, in case that is taken back.",
    )
    settings = models.JSONField(default=dict, blank=True)
    needs_reconsent = models.BooleanField(default=False)
    reconsent_declined_at = models.DateTimeField(null=True, blank=True)
    declined_version = models.ForeignKey(
        AppVersion,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="The approved version that the merchant last said no to.",
    )
    reconsent_notified_at = models.DateTimeField(
        null=True, blank=True, help_text="When the merchant was mailed about it; empty: not yet."
    )
    installed_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    installed_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True, blank=True)
    paused_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when the merchant has paused the app; empty: it runs."
    )
    uninstalled_at = models.DateTimeField(null=True, blank=True)

    objects = InstallationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["app", "business"],
                condition=models.Q(uninstalled_at=None),
                name="one_active_installation_per_app_and_business",
            )
        ]
        indexes = [
            models.Index(
                fields=["id"],
                condition=models.Q(needs_reconsent=True, reconsent_notified_at=None),
                name="installation_to_notify",
            ),
            models.Index(
                fields=["app"],
                condition=models.Q(needs_reconsent=True, uninstalled_at=None),
                name="installation_to_agree",
            ),
            models.Index(
                fields=["app"],
                condition=models.Q(uninstalled_at__isnull=False),
                name="installation_over",
            ),
            # For figures of an app, which read nothing else of a row.
            models.Index(
                fields=["app", "installed_at"],
                name="installation_made",
                condition=_COUNTED,
                include=["uninstalled_at", "business"],
            ),
            models.Index(
                fields=["app", "uninstalled_at"],
                name="installation_ended",
                condition=_COUNTED & models.Q(uninstalled_at__isnull=False),
                include=["business"],
            ),
        ]

    def __str__(self) -> str:
        return f"{self.app} on {self.business}"

    @property
    def is_active(self) -> bool:
        return self.uninstalled_at is None

    @property
    def is_usable(self) -> bool:
        """Installed, and its app neither suspended nor deleted; paused or not."""
        return self.is_active and self.app.is_usable()

    @property
    def is_running(self) -> bool:
        """Whether the app runs in the store: usable, and its merchant hasn't paused it."""
        return self.is_usable and self.paused_at is None

    @property
    def data_erasure_at(self) -> datetime:
        """When the app is asked to erase the business's data: 48 hours after the uninstall, unless set otherwise."""
        assert self.uninstalled_at is not None, "nothing is erased while the app is installed"
        return self.uninstalled_at + timedelta(seconds=settings.DATA_ERASURE_DELAY)

    @property
    def follows_working_copy(self) -> bool:
        """A test install on the sandbox of one of the app's developers sees every edit at once. So does a reviewer's."""
        return self.is_test and self.runs_working_copy

    @property
    def runs_working_copy(self) -> bool:
        """On the sandbox store of a developer of the app, the manifest always follows the working copy, converted install or not.

        A reviewer's test install runs what was submitted, which is the working copy too; so does that of a check.
        """
        return self.is_review or self.is_own

    @property
    def is_on_test_store(self) -> bool:
        """Whether it serves an author's own tests (`teststores`)."""
        return self.is_review and self.is_own

    @property
    def is_in_test_shop(self) -> bool:
        """Whether it is in a store of a connection for tests: a test install that no approval converts, though it follows approved versions
        as any merchant's does.
        """
        return self.is_test and self.business.is_connected

    @property
    def goes_by_store_clock(self) -> bool:
        return self.is_on_test_store or self.is_in_test_shop

    @property
    def own_sandbox_id(self) -> UUID | None:
        """The business, if it is the sandbox or a test store of a developer of the app."""
        return self.business_id if self.is_own else None

    @property
    def is_in_release(self) -> bool:
        """Whether a release is open whose version it runs already. The same rule in SQL: `is_in_release`."""
        return self.runs_id is not None and self.runs_id == self.app.rolling_version_id

    @property
    def app_fields(self) -> AppFields:
        """The app as its merchant sees it: name, description, pictures. Those of the newest version, whatever the store runs."""
        approved = self.app.approved_version
        return self.app if self.follows_working_copy or approved is None else approved

    @property
    def shown_version(self) -> str:
        """The number of the version that the store runs, for people."""
        runs = None if self.follows_working_copy else self.runs
        return self.app.version if runs is None else runs.version

    @property
    def offered_scopes(self) -> list[str]:
        """What its merchant may grant: the scopes of its version, without those that an open release removes."""
        if self.runs is None:
            return []
        newest = self.app.newest_version
        kept = self.runs.scopes if newest is None else set(self.runs.scopes) & set(newest.scopes)
        return in_order(kept)

    @property
    def missing_scopes(self) -> list[str]:
        """What its version was approved for and this installation was not granted."""
        return in_order(set(self.offered_scopes) - set(self.granted_scopes))

    @property
    def asked_scopes(self) -> list[str]:
        """What its merchant is asked for: missing scopes, except those that were left out on purpose. One that was granted and later
        removed by an approval is asked for when it comes back.
        """
        return in_order(set(self.missing_scopes) - set(self.left_out_scopes))

    @property
    def asks_about_data(self) -> bool:
        """Whether its version keeps the store's data in other ways than its merchant agreed to."""
        if not self.is_behind:
            return False
        assert self.runs is not None
        assert self.agreed_version is not None
        return self.runs.data_terms.asks_beyond(self.agreed_version.data_terms)

    def rests_after_decline(self, at: datetime) -> bool:
        """Whether the merchant declined so recently that no banner asks again."""
        return self.reconsent_declined_at is not None and self.reconsent_declined_at > at - RECONSENT_REST

    @property
    def is_behind(self) -> bool:
        """Whether its merchant agreed to another version's reach than that of the version it runs, which may ask for more."""
        return self.runs_id is not None and self.agreed_version_id not in (None, self.runs_id)

    @property
    def approved_scopes(self) -> list[str]:
        """The scopes that its token may have been granted: those of the listed version, since a scope that a version removes is lost
        everywhere with its approval. A store that a release has reached keeps its version's, also while that is halted.
        """
        if self.is_in_release and self.runs is not None:
            return self.runs.scopes
        return self.app.approved_scopes

    @property
    def effective_scopes(self) -> list[str]:
        """What the token may do, in the order of the scope table (contract section 3, "Scopes").

        The granted scopes that are also approved. On its own developer's test install the working copy's scopes, limited
        only by the `scope` of the authorization.
        """
        if self.follows_working_copy:
            allowed, granted = self.app.scopes, self.narrowed_scopes
        else:
            allowed, granted = self.approved_scopes, self.granted_scopes
        return in_order(allowed if granted is None else set(allowed) & set(granted))

    @property
    def webhook_url(self) -> str:
        """The app's Webhook URL as this installation sees it; empty where there is none."""
        if self.follows_working_copy:
            return self.app.webhook_url
        return self.runs.webhook_url if self.runs else ""
