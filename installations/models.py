"""An app on a business, with its credentials, and the short-lived grants that lead there."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone
from oauth2_provider.models import AbstractGrant

from accounts.models import Business, User
from common.fields import EncryptedTextField
from common.ids import new_id
from installations.enums import HistoryKind
from marketplace.models import App, AppFields, AppVersion
from marketplace.scopes import in_order

# What says whether an installation is there, where it is told of events, and what its token may do.
JUDGED_BY = (
    "app", "business", "is_test", "granted_scopes", "narrowed_scopes", "uninstalled_at",
    "business__owner", "business__is_sandbox",
    "app__developer", "app__scopes", "app__webhook_url", "app__webhook_events", "app__suspended_at",
    "app__deleted_at", "app__approved_version",
    "app__approved_version__scopes", "app__approved_version__webhook_url",
)  # fmt: skip


# For this long a merchant who kept an app as it was is not asked again by a banner.
RECONSENT_REST = timedelta(days=14)


class InstallationQuerySet(models.QuerySet["Installation"]):
    def active(self) -> "InstallationQuerySet":
        return self.filter(uninstalled_at=None)

    def of_owner(self, user: User) -> "InstallationQuerySet":
        return self.filter(business__owner=user)

    def needing_consent(self) -> "InstallationQuerySet":
        """Those whose app was approved with more than they were granted, and is in use."""
        return self.active().filter(needs_reconsent=True, app__suspended_at=None, app__deleted_at=None)

    def asking(self, at: datetime | None = None) -> "InstallationQuerySet":
        """Those of them whose merchant is to be asked now: not within 14 days of a no."""
        rested = models.Q(reconsent_declined_at=None) | models.Q(
            reconsent_declined_at__lte=(at or timezone.now()) - RECONSENT_REST
        )
        return self.needing_consent().filter(rested)

    def with_app(self) -> "InstallationQuerySet":
        """Bring along what `effective_scopes` and `app_fields` read."""
        return self.select_related("app__approved_version", "business")

    def with_terms(self) -> "InstallationQuerySet":
        """With its app, and no more than `JUDGED_BY`: for paths on which much is read."""
        return self.with_app().only(*JUDGED_BY)


class Installation(models.Model):
    """One app on one business. Made, re-issued and ended only by `installations.services`.

    Of the access token only the SHA-256 is kept; null means that there is no live token. The row outlives
    the uninstall: its webhook secret still signs the data-erasure event.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.PROTECT, related_name="installations")
    business = models.ForeignKey(Business, on_delete=models.PROTECT, related_name="installations")
    is_test = models.BooleanField(default=False)
    token_digest = models.CharField(max_length=64, null=True, unique=True, editable=False)
    token_hint = models.CharField(max_length=8, blank=True)
    token_issued_at = models.DateTimeField(null=True, blank=True)
    webhook_secret = EncryptedTextField(editable=False)
    granted_scopes = models.JSONField(default=list)
    narrowed_scopes = models.JSONField(
        null=True,
        blank=True,
        help_text="The scope parameter of the authorization, where one was given; null grants all.",
    )
    consented_at = models.DateTimeField(
        default=timezone.now,
        help_text="When somebody agreed to these terms; the exchange of the code may have come later.",
    )
    settings = models.JSONField(default=dict, blank=True)
    needs_reconsent = models.BooleanField(default=False)
    reconsent_declined_at = models.DateTimeField(null=True, blank=True)
    reconsent_told_at = models.DateTimeField(
        null=True, blank=True, help_text="When the merchant was mailed about it; empty: not yet."
    )
    installed_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    installed_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True, blank=True)
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
                condition=models.Q(needs_reconsent=True, reconsent_told_at=None),
                name="installation_to_tell",
            )
        ]

    def __str__(self) -> str:
        return f"{self.app} on {self.business}"

    @property
    def is_active(self) -> bool:
        return self.uninstalled_at is None

    @property
    def data_erasure_at(self) -> datetime | None:
        """When the app is told to erase the business's data: 48 hours after the uninstall."""
        if self.uninstalled_at is None:
            return None
        return self.uninstalled_at + timedelta(seconds=settings.DATA_ERASURE_DELAY)

    @property
    def follows_working_copy(self) -> bool:
        """A test install on the sandbox of the app's own developer sees every edit at once."""
        return self.is_test and self.business.is_sandbox and self.business.owner_id == self.app.developer_id

    @property
    def app_fields(self) -> AppFields:
        """The app as this installation sees it: name, description, pictures, version."""
        approved = self.app.approved_version
        return self.app if self.follows_working_copy or approved is None else approved

    @property
    def missing_scopes(self) -> list[str]:
        """What the app was approved for and this installation was not granted."""
        return in_order(set(self.app.approved_scopes) - set(self.granted_scopes))

    def rests_after_decline(self, at: datetime) -> bool:
        """Whether its merchant has said no too lately to be asked again."""
        return self.reconsent_declined_at is not None and self.reconsent_declined_at > at - RECONSENT_REST

    @property
    def asks_for_consent(self) -> bool:
        return (
            self.needs_reconsent
            and self.is_active
            and self.app.suspended_at is None
            and self.app.deleted_at is None
        )

    @property
    def effective_scopes(self) -> list[str]:
        """What the token may do, in the order of the scope table (contract section 3, "Scopes").

        The granted scopes that are approved; for the own developer's test install the working copy's,
        narrowed only by a `scope` given to the authorization.
        """
        if self.follows_working_copy:
            allowed, granted = self.app.scopes, self.narrowed_scopes
        else:
            allowed, granted = self.app.approved_scopes, self.granted_scopes
        return in_order(allowed if granted is None else set(allowed) & set(granted))

    @property
    def webhook_url(self) -> str:
        """The app's Webhook URL as this installation sees it; empty where there is none."""
        if self.follows_working_copy:
            return self.app.webhook_url
        return self.app.approved_version.webhook_url if self.app.approved_version else ""


class HistoryEntry(models.Model):
    """One thing that happened to an installation. Append-only, and kept for good: it is the proof of an erasure.

    Written by `installations.services.history`, in the transaction of what happened.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    installation = models.ForeignKey(
        Installation, on_delete=models.CASCADE, related_name="history", db_index=False
    )
    kind = models.CharField(max_length=20, choices=HistoryKind.choices)
    at = models.DateTimeField()
    actor = models.ForeignKey(
        User,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        help_text="Whose act it was; empty for the app's and the platform's own.",
    )
    scopes = models.JSONField(
        default=list,
        help_text="What was granted from then on, where that was decided; at the end, what was held.",
    )
    note = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name_plural = "history entries"
        indexes = [models.Index(fields=["installation", "at"], name="installation_history")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} at {self.at:%Y-%m-%d %H:%M}"


class Grant(AbstractGrant):
    """An authorization code, alive for 60 seconds. It is kept for a day, and a used one as long as the token that it
    gave, to know a second use (`installations.services.retention`).

    Written by `installations.services.authorization`. `installation` is the one whose token the code gave; of
    an unused code it is the one that stood at the consent, which took effect on it at once. `narrows` says
    that the authorization named a `scope`. `version` is the one that was offered; null: the working copy. Where
    the authorization named a `redirect_uri` the exchange has to, too (RFC 6749 section 4.1.3).
    """

    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="+")
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, null=True, related_name="+")
    version = models.ForeignKey(AppVersion, on_delete=models.CASCADE, null=True, related_name="+")
    narrows = models.BooleanField(default=False)
    names_redirect_uri = models.BooleanField(default=False)
    used_at = models.DateTimeField(null=True, blank=True)
