"""Responses of the developer API, and its names for the fields of services."""

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from rest_framework import serializers

from common.errors import ErrorDetail
from common.rest import fields
from conformance.enums import Outcome
from marketplace import enums
from marketplace.models import App, AppVersion, Submission
from marketplace.scopes import NAMEABLE_EVENTS, SCOPES
from marketplace.services.review_messages import notes_of
from stores.serializers import BusinessId, Count
from webhooks.serializers import EventId, InstallationId, WebhookFilterSerializer

Scopes = partial(fields.StringList, among=list(SCOPES))
Mean = partial(fields.Number, min_value=0, allow_null=True)  # null for a mean of nothing


class TextOrNull(fields.Text):
    """Shows the empty string as null."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, allow_null=True, **options)

    def to_representation(self, value: str) -> str | None:
        return value or None


class ManifestOf(fields.Object):
    """Of `context["manifests"]`, by app."""

    def get_attribute(self, app: App) -> Mapping[str, Any]:
        return self.context["manifests"].get(app.pk, {})


AppId = partial(fields.Text, "The app.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a04")


class RoleOf(fields.Choice):
    """Of `context["roles"]`, by app."""

    def get_attribute(self, app: App) -> str:
        return str(self.context["roles"][app.pk])


class AppSerializer(fields.ApiSerializer):
    """`context["manifests"]` are the saved manifests, `context["roles"]` the caller's roles, by app."""

    id = AppId()
    name = fields.Text("The name that merchants read.", "Loyalty Stars")
    slug = fields.Text("The app's name in URLs; it never changes.", "loyalty-stars")
    description = fields.Text("For the marketplace's cards.", "Stars for regulars.")
    category = fields.Choice(enums.Category.choices, "The category in the marketplace.", "loyalty")
    scopes = Scopes("The permissions that the app asks for.", ["read_orders", "read_products"])
    redirectUrl = fields.Text("Merchants return here with a code.", "https://stars.example.com/callback")
    webhookUrl = TextOrNull("Receives deliveries and hook calls.", "https://stars.example.com/events")
    webhookEvents = fields.StringList("As in the request.", ["order.created"], among=NAMEABLE_EVENTS)
    iconUrl = fields.Text("The icon's URL.", allow_null=True)
    screenshots = fields.StringList("The URLs of the screenshots.", [], source="screenshot_urls")
    version = fields.Text("Semantic Versioning 2.0.", "1.4.0")
    approvedScopes = Scopes("The scopes of the last approval.", [])
    status = fields.Choice(enums.AppStatus.choices, "The working copy's status.", "DRAFT")
    isListed = fields.Boolean("Whether the marketplace lists it.", False)
    manifest = ManifestOf("The extension definitions as saved; {} before the first save.", {})
    clientId = fields.Text("The app's name in OAuth.", "kd8Fq2Vn0cQyX1")
    createdAt = fields.Moment("When it was registered.")
    updatedAt = fields.Moment("When it last changed.")
    screenshotAlts = fields.StringList(
        "What each screenshot shows, in their order; empty for one without.", []
    )
    longDescription = TextOrNull("For the listing, in Markdown.", "**Stars** for regulars.")
    supportUrl = TextOrNull("Where merchants get help.", "mailto:help@stars.example.com")
    privacyUrl = TextOrNull("The privacy policy.", "https://stars.example.com/privacy")
    dataCountries = fields.StringList("Where the data of stores goes: codes of ISO 3166-1.", ["DE", "FR"])
    dataRetentionDays = fields.Integer(
        "For how long it is kept; null for as long as the app is installed.",
        30,
        min_value=0,
        allow_null=True,
    )
    dataProcessors = fields.Text("Who else processes it.", "Mailer Ltd.")
    liveSaves = fields.Boolean("Whether saves that widen nothing run in production at once.", True)
    sessionTokenAlg = fields.Choice(enums.SessionTokenAlg.values, "How session tokens are signed.", "HS256")
    webhookFilter = WebhookFilterSerializer(
        allow_null=True, help_text="Which of these events the app-defined webhook gets; null: all."
    )
    role = RoleOf(enums.AppRole.choices, "Your role on the app.", "OWNER")


class ClientSecretSerializer(serializers.Serializer):
    clientSecret = fields.Text("The app's password in OAuth. No other response shows it.", "fbcs_Wm3q…")


class CreatedAppSerializer(AppSerializer, ClientSecretSerializer):
    pass


class ReviewerNotes(TextOrNull):
    def get_attribute(self, submission: Submission) -> str:
        return notes_of(submission)


VersionNumber = partial(fields.Integer, "Counts the app's approvals from 1.", 2, min_value=1)


class IsCurrent(fields.Boolean):
    def get_attribute(self, version: AppVersion) -> bool:
        return version.pk == version.app.approved_version_id


class IsTakenBack(fields.Boolean):
    def get_attribute(self, version: AppVersion) -> bool:
        release = getattr(version, "release", None)
        return release is not None and release.state == enums.ReleaseState.TAKEN_BACK


class SubmissionSerializer(fields.ApiSerializer):
    id = fields.Text("The submission.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a0c")
    status = fields.Choice(enums.SubmissionStatus.choices, "The submission's status.", "PENDING_REVIEW")
    notes = ReviewerNotes("The reviewer's notes to you, those on failed criteria included.")
    version = fields.Text("Semantic Versioning 2.0.", "1.4.0")
    addedScopes = Scopes("Scopes beyond those of the last approval.", ["read_orders"])
    removedScopes = Scopes("Scopes that only the last approval had.", [])
    release = fields.Choice(enums.ReleaseMode.choices, "How the approved version reaches stores.", "ALL")
    submittedAt = fields.Moment("When it was submitted.")
    decidedAt = fields.Moment("When it was decided.", None, allow_null=True)


class ReadinessItem(fields.ApiSerializer):
    criterion = fields.Choice(enums.Criterion.choices, "What reviewers judge it by.", "quality")
    outcome = fields.Choice(
        Outcome.choices,
        "FAIL keeps the app from being submitted, a reviewer will likely question WARN, and SKIPPED can't be checked automatically.",
        "WARN",
    )
    title = fields.Text("In a few words.", "No icon")
    about = TextOrNull("What it means, or what to do.", None)


class ReadinessSerializer(fields.ApiSerializer):
    """What the page Review lists."""

    url = fields.Text("That page.", "https://platform.example/portal/apps/ring-my-bell/review/")
    items: Any = ReadinessItem(many=True, help_text="By criterion.")


class VersionSerializer(fields.ApiSerializer):
    """Of an `AppVersion` with its app."""

    number = VersionNumber()
    version = fields.Text("Semantic Versioning 2.0.", "1.4.0")
    approvedAt = fields.Moment("When it was approved.")
    isCurrent = IsCurrent("Whether stores use this version.", True)
    isTakenBack = IsTakenBack("Whether the version was taken back after its release.", False)


class StoresOfRelease(serializers.Serializer):
    """The production stores that had the app at the approval."""

    new = fields.Integer("Those that run the new version.", 10, min_value=0)
    old = fields.Integer("Those that run the version before.", 990, min_value=0)


class CallsOfVersion(serializers.Serializer):
    """Hook calls and first attempts of deliveries since the approval."""

    calls = fields.Integer("How many were made.", 412, min_value=0)
    failed = fields.Integer("How many of them failed.", 3, min_value=0)
    failureRate = fields.Number(
        "From 0 to 1; null without calls.", 0.0073, min_value=0, max_value=1, allow_null=True
    )
    p95Ms = fields.Integer(
        "The time that 95 % of them don't exceed; null without calls.", 240, min_value=0, allow_null=True
    )


class HealthOfRelease(serializers.Serializer):
    new = CallsOfVersion()
    old = CallsOfVersion()


class ReleaseSerializer(fields.ApiSerializer):
    """Of `extensions.releases.watch.shown`."""

    number = VersionNumber()
    version = fields.Text("Semantic Versioning 2.0.", "1.4.0")
    mode = fields.Choice(enums.ReleaseMode.choices, "As submitted.", "STEPS")
    state = fields.Choice(enums.ReleaseState.choices, "The release's state.", "ROLLING")
    percent = fields.Integer(
        "How far it is: 1, 5, 25 or 100 per cent of the stores.", 5, min_value=1, max_value=100
    )
    stores = StoresOfRelease()
    startedAt = fields.Moment("When the version was approved.")
    nextStepAt = fields.Moment(
        "When the next step begins by itself; null while that waits for calls.", allow_null=True
    )
    endedAt = fields.Moment("When it was complete or taken back.", None, allow_null=True)
    reason = TextOrNull("Why it was halted or taken back, as a sentence.", None)
    health = HealthOfRelease()


class TestInstallSerializer(fields.ApiSerializer):
    """Of an `installations.services.Issued`, with the credentials in clear."""

    installationId = InstallationId(source="installation.id")
    accessToken = fields.Text("The token of the app API. No other response shows it.", "fbat_test_5e…")
    webhookSecret = fields.Text("Signs webhooks and hook calls.", "whsec_test_kT0g…")
    businessId = BusinessId(source="installation.business_id")
    isTestInstall = fields.Boolean("Always true.", True, source="installation.is_test")


class TestStatusSerializer(fields.ApiSerializer):
    installed = fields.Boolean("Whether the app is on your sandbox.", True, source="is_active")
    installationId = InstallationId(source="id", required=False)
    businessId = BusinessId(required=False)
    isTestInstall = fields.Boolean(
        "False after an approval converted it.", True, source="is_test", required=False
    )
    scopes = Scopes("What the token may do.", ["read_orders"], source="effective_scopes", required=False)
    needsReConsent = fields.Boolean(
        "Whether scopes need consent.", False, source="needs_reconsent", required=False
    )
    installedAt = fields.Moment("When it was installed.", required=False)
    lastUsedAt = fields.Moment("The token's last use, to the minute.", allow_null=True, required=False)


class TestUninstallSerializer(fields.ApiSerializer):
    installationId = InstallationId(source="id")
    uninstalledAt = fields.Moment("When it was uninstalled.")
    dataErasureAt = fields.Moment(
        "When business.data_erasure is sent.", "2026-11-22T15:04:05.123Z", allow_null=True
    )


class InstallDaySerializer(serializers.Serializer):
    date = fields.Date("A day in UTC.", "2026-11-20")
    installs = Count("Installs on that day.", 3)
    uninstalls = Count("Uninstalls on that day.", 1)


class DeliveryDaySerializer(serializers.Serializer):
    date = fields.Date("A day in UTC.", "2026-11-20")
    successful = Count("Deliveries answered 2xx.", 42)
    failed = Count("Failed deliveries.", 1)


class DeliveryFiguresSerializer(serializers.Serializer):
    successful = Count("In 30 days.", 42, source="delivered.successful")
    failed = Count("In 30 days.", 1, source="delivered.failed")
    daily = DeliveryDaySerializer(many=True, help_text="Thirty days, the oldest first.", source="deliveries")


class AnalyticsSerializer(fields.ApiSerializer):
    """Of a `webhooks.insight.analytics.Analytics`."""

    totalInstalls = Count("All installations ever.", 12)
    activeInstalls = Count("Installations without an uninstall.", 9)
    webhookSuccessRate = Mean("From 0 to 1, of 30 days.", 0.98, source="delivered.success_rate")
    averageWebhookLatencyMs = Mean("Of answered attempts.", 84.5, source="delivered.average_latency_ms")
    installTrend = InstallDaySerializer(
        many=True, source="installs", help_text="Thirty days, the oldest first."
    )
    webhookDeliveries = DeliveryFiguresSerializer(source="*", help_text="The deliveries of 30 days.")


class SentSampleSerializer(serializers.Serializer):
    eventId = EventId()
    deliveries = Count("How many webhooks receive it.", 1)
    reason = fields.Text(
        "Why none does, or not all that list the event: the condition of a filter.", None, allow_null=True
    )


API_NAMES: Final = {
    "redirect_url": "redirectUrl",
    "webhook_url": "webhookUrl",
    "webhook_events": "webhookEvents",
    "webhook_filter": "webhookFilter",
    "screenshot_alts": "screenshotAlts",
    "long_description": "longDescription",
    "support_url": "supportUrl",
    "privacy_url": "privacyUrl",
    "data_countries": "dataCountries",
    "data_retention_days": "dataRetentionDays",
    "data_processors": "dataProcessors",
    "how_to_test": "howToTest",
    "scope_reason": "scopeReason",
}


def renamed(details: Iterable[ErrorDetail]) -> list[ErrorDetail]:
    """A service's problems under the API's names: `webhook_events[1]` is `webhookEvents[1]`."""
    return [{"field": _api_path(detail["field"]), "message": detail["message"]} for detail in details]


def _api_path(path: str) -> str:
    name = re.split(r"[.[]", path, maxsplit=1)[0]
    return API_NAMES.get(name, name) + path[len(name) :]
