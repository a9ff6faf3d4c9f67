"""Apps with their pictures, and their approved versions."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from oauth2_provider.models import AbstractApplication

from accounts.models import User
from common.ids import new_id
from marketplace.data_terms import MAX_PROCESSORS, DataTerms
from marketplace.enums import AppRole, AppStatus, Category, SessionTokenAlg
from marketplace.models.members import Membership
from marketplace.scopes import ABOUT_PEOPLE, READS_CUSTOMERS


class Picture(models.Model):
    """An uploaded picture that was decoded successfully. It never changes; a new picture gets a new row.

    It is separate from the app, so that an approved version keeps its pictures when the working copy changes.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey("App", on_delete=models.CASCADE, related_name="pictures")
    file = models.FileField(upload_to="apps/", storage=default_storage, max_length=200)
    content_type = models.CharField(max_length=20)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.file.name or str(self.id)

    @property
    def url(self) -> str:
        return picture_url(self.id)


def picture_path(picture_id: UUID | str) -> str:
    """For our own pages, whose policy only allows pictures of their own origin."""
    return f"/media/pictures/{picture_id}"


def picture_url(picture_id: UUID | str) -> str:
    """Absolute, for APIs."""
    return settings.BASE_URL + picture_path(picture_id)


class AppFields(models.Model):
    """The fields that an approval freezes: those that merchants see, and those that decide what an app may do."""

    name = models.CharField(max_length=80)
    description = models.CharField(max_length=300)
    category = models.CharField(max_length=16, choices=Category.choices)
    scopes = models.JSONField(default=list)
    redirect_url = models.CharField("redirect URL", max_length=2048)
    webhook_url = models.CharField("webhook URL", max_length=2048, blank=True)
    version = models.CharField(max_length=64, default="0.1.0")
    icon = models.ForeignKey(Picture, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    screenshot_ids = models.JSONField(default=list, blank=True)
    alt_texts = models.JSONField(
        "screenshot descriptions",
        default=dict,
        db_default={},
        blank=True,
        help_text="By screenshot id. Screenshots without a description are left out.",
    )
    long_description = models.TextField(
        max_length=5000, blank=True, default="", db_default="", help_text="Markdown, shown on the listing."
    )
    support_url = models.CharField(
        "support",
        max_length=2048,
        blank=True,
        default="",
        db_default="",
        help_text="https://… or mailto:…",
    )
    privacy_url = models.CharField("privacy policy", max_length=2048, blank=True, default="", db_default="")
    data_countries = models.JSONField(
        "countries of the data", default=list, db_default=[], blank=True, help_text="Codes of ISO 3166-1."
    )
    data_retention_days = models.PositiveSmallIntegerField(
        "time that data is kept",
        null=True,
        blank=True,
        help_text="In days; empty: as long as the app is installed.",
    )
    data_processors = models.CharField(
        "other processors of the data", max_length=MAX_PROCESSORS, blank=True, default="", db_default=""
    )

    class Meta:
        abstract = True

    @property
    def icon_url(self) -> str | None:
        """Read by the serializer of the developer API."""
        return picture_url(self.icon_id) if self.icon_id else None

    @property
    def icon_path(self) -> str:
        return picture_path(self.icon_id) if self.icon_id else ""

    @property
    def screenshot_urls(self) -> list[str]:
        return [picture_url(picture_id) for picture_id in self.screenshot_ids]

    @property
    def screenshot_paths(self) -> list[str]:
        return [picture_path(picture_id) for picture_id in self.screenshot_ids]

    @property
    def screenshots(self) -> list[dict[str, str]]:
        """For pages: each with its `id`, `path` and `alt`, which is empty for one without a description."""
        return [
            {"id": each, "path": picture_path(each), "alt": self.alt_texts.get(each, "")}
            for each in self.screenshot_ids
        ]

    @property
    def screenshot_alts(self) -> list[str]:
        """The description of each screenshot, empty for one without."""
        return [self.alt_texts.get(picture_id, "") for picture_id in self.screenshot_ids]

    @property
    def sees_customers(self) -> bool:
        """Whether it reads who a store's customers are. Then it should name a privacy policy and a support contact."""
        return READS_CUSTOMERS in self.scopes

    @property
    def data_terms(self) -> DataTerms:
        return DataTerms(self.data_countries, self.data_retention_days, self.data_processors)

    @property
    def lacks_data_countries(self) -> bool:
        """Whether it reads about people and doesn't say where their data goes."""
        return not self.data_countries and not set(ABOUT_PEOPLE).isdisjoint(self.scopes)

    @property
    def support_words(self) -> str:
        """The support link for people: `help@example.com` for an e-mail address."""
        return self.support_url.removeprefix("mailto:")


FROZEN_FIELDS = tuple(field.name for field in AppFields._meta.local_fields)


class AppQuerySet(models.QuerySet["App"]):
    def live(self) -> "AppQuerySet":
        """Apps that their developer has not deleted."""
        return self.filter(deleted_at=None)

    def of(self, user: User) -> "AppQuerySet":
        """The live apps of which the person is a member, in any role."""
        return self._with_member(user, AppRole.DEVELOPER, AppRole.VIEWER)

    def developed_by(self, user: User) -> "AppQuerySet":
        """The live apps that the person may change."""
        return self._with_member(user, AppRole.DEVELOPER)

    def _with_member(self, user: User, *roles: AppRole) -> "AppQuerySet":
        """Or owned by the person. Both halves of the union are found by an index."""
        others = Membership.objects.filter(user=user, role__in=roles).values("app")
        owned = App.objects.filter(developer=user).values("pk")
        return self.live().filter(pk__in=owned.union(others))

    def owned_by(self, owner: User | UUID) -> "AppQuerySet":
        """Deleted apps too."""
        return self.filter(developer=owner)

    def listed(self) -> "AppQuerySet":
        """Apps in the marketplace (`App.is_listed`), no matter what state the working copy is in."""
        return self.live().filter(suspended_at=None).exclude(approved_version=None)


class App(AppFields, AbstractApplication):
    """An app: the developer's working copy, and the OAuth client of django-oauth-toolkit.

    Changed only by `marketplace.services`: its fields by `apps`, its status by `reviews`. Columns of the library that
    never vary here are class constants. A deleted app keeps its row, because data erasures of its installations may
    still have to be sent.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=60)
    developer = models.ForeignKey(User, on_delete=models.PROTECT, related_name="apps")
    webhook_events = models.JSONField(default=list, blank=True)
    webhook_filter = models.TextField(
        null=True, blank=True, editable=False, help_text="JSON: the filter of the app-defined webhook."
    )
    status = models.CharField(max_length=16, choices=AppStatus.choices, default=AppStatus.DRAFT)
    approved_version = models.ForeignKey(
        "AppVersion", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    rolling_version = models.ForeignKey(
        "AppVersion",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="The version of the open release, rolling or halted; empty: every store runs the approved version.",
    )
    earlier_version = models.ForeignKey(
        "AppVersion",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="What stores run that the open release hasn't reached.",
    )
    live_saves = models.BooleanField(
        default=True,
        db_default=True,
        help_text="A save of the manifest that widens nothing runs in production at once. Off: it waits for the next version.",
    )
    session_token_alg = models.CharField(
        max_length=5,
        choices=SessionTokenAlg.choices,
        default=SessionTokenAlg.HS256,
        db_default=SessionTokenAlg.HS256,
    )
    taken_back_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When a version was last taken back. Manifests that were saved before wait for the next version.",
    )
    suspended_at = models.DateTimeField(null=True, blank=True)
    suspension_reason = models.CharField(max_length=500, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    owner_since = models.DateTimeField(
        null=True,
        editable=False,
        help_text="Since when it belongs to `developer`; empty: since it was created.",
    )
    client_secret_hint = models.CharField(max_length=8, blank=True)
    client_secret_issued_at = models.DateTimeField(null=True, blank=True)
    developer_left_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When a developer last left who may know this client secret. Empty once it is regenerated, or kept.",
    )
    created_at = models.DateTimeField(default=timezone.now, db_default=Now(), editable=False)
    updated_at = models.DateTimeField(default=timezone.now, db_default=Now(), editable=False)

    # Columns of AbstractApplication that never vary, or have another name here.
    user = property(lambda self: self.developer)
    client_type = AbstractApplication.CLIENT_CONFIDENTIAL
    authorization_grant_type = AbstractApplication.GRANT_AUTHORIZATION_CODE
    hash_client_secret = True
    skip_authorization = False
    post_logout_redirect_uris = ""
    allowed_origins = ""
    algorithm = AbstractApplication.NO_ALGORITHM
    registration_source = AbstractApplication.RegistrationSource.MANUAL
    cimd_expires_at = None
    created = property(lambda self: self.created_at)
    updated = property(lambda self: self.updated_at)

    objects = AppQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["slug"], condition=models.Q(deleted_at=None), name="app_slug_among_live"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def shown_developer(self) -> str:
        return self.developer.name

    @property
    def redirect_uris(self) -> str:
        """The Redirect URLs that the library may accept: the working copy's and the approved version's."""
        approved = self.approved_version.redirect_url if self.approved_version else ""
        return " ".join(dict.fromkeys(url for url in (self.redirect_url, approved) if url))

    @property
    def is_listed(self) -> bool:
        return self.approved_version_id is not None and self.is_usable()

    @property
    def newest_version(self) -> "AppVersion | None":
        """The approved version that a change is compared with: that of the open release, also while it is halted."""
        return self.approved_version if self.rolling_version_id is None else self.rolling_version

    @property
    def asks_about_data(self) -> bool:
        """Whether an approval of the working copy would ask stores where their data may go."""
        newest = self.newest_version
        return newest is not None and self.data_terms.asks_beyond(newest.data_terms)

    @property
    def approved_scopes(self) -> list[str]:
        return self.approved_version.scopes if self.approved_version else []

    def is_usable(self, request: Any = None) -> bool:
        """Whether it is neither suspended nor deleted. The library asks before it issues codes or tokens."""
        return self.deleted_at is None and self.suspended_at is None


class AppVersion(AppFields):
    """An approved state of an app, frozen. `number` counts an app's approvals from 1.

    `followed_at` is when all installations had followed the approval: test installs converted, those that
    lack a scope marked. Null until then, so that a worker that dies half-way leaves the rest to be found.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    approved_at = models.DateTimeField(default=timezone.now, editable=False)
    scope_reason = models.CharField(
        max_length=500,
        blank=True,
        help_text="Why more scopes are asked for, in the developer's words to merchants.",
    )
    followed_at = models.DateTimeField(null=True, blank=True, editable=False)
    developer_name = models.CharField(
        max_length=120, blank=True, default="", db_default="", help_text="As it was submitted."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["app", "number"], name="app_version_number")]
        indexes = [
            models.Index(
                fields=["approved_at"],
                condition=models.Q(followed_at=None),
                name="app_version_to_follow",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def shown_developer(self) -> str:
        """A version of a deleted account has no name."""
        return self.developer_name or self.app.developer.name


class AppTotals(models.Model):
    """The number of stores that have an app now, so that the marketplace doesn't count installations for each card.

    Sandboxes don't count. Only `marketplace.services.apps` changes it, and there is no row before the first install.
    It is a separate row because installs lock it after the business, but the app's row before it.
    """

    app = models.OneToOneField(App, on_delete=models.CASCADE, primary_key=True, related_name="totals")
    installs = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "app totals"

    def __str__(self) -> str:
        return f"Totals of {self.app_id}"
