"""The developer API, as those who call it want to know it (`common.api_reference`)."""

from common.api_reference import Bodies, Operation, names, page_of, paging, ref, words
from common.json_schema import (
    Schema,
    boolean,
    identifier,
    integer,
    listing,
    moment,
    number,
    one_of,
    or_null,
    record,
    shape,
    text,
)  # fmt: skip
from developers.api import manifest_schema
from developers.api.serializers import AppChanges, NewApp, NewSubmission, SampleEvent
from marketplace.enums import AppStatus, Category, SubmissionStatus
from marketplace.rules import LENGTHS, MAX_SCREENSHOTS, REMARKS
from marketplace.scopes import NAMEABLE_EVENTS, SCOPES
from stores.schemas import BUSINESS_ID
from webhooks import wire_schemas
from webhooks.catalogue import EVENTS
from webhooks.enums import DeliveryStatus
from webhooks.services.samples import SAMPLES

APPS, EXTENSIONS = "Apps", "Extensions"
REVIEW, TESTING, OBSERVING = "Review", "Testing", "Deliveries and analytics"
GROUPS = {
    APPS: "Registering and editing apps. An app of another developer is a 404.",
    EXTENSIONS: "What an app adds to stores.",
    REVIEW: "Submitting an app, and what became of it.",
    TESTING: "An app on its developer's own sandbox.",
    OBSERVING: "What an app's installations got, and how often it is installed.",
}

_NAME = r"^[^\x00-\x1f\x7f]*\S[^\x00-\x1f\x7f]*$"
_SLUG = r"^[a-z0-9]+([-_]+[a-z0-9]+)*$"
_SEMVER = (
    r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$"
)
_TEXT = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"
_DESCRIPTION = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*\S[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"

NAME = text("What merchants read.", "Loyalty Stars")
SLUG = text("The app's name in addresses; never changes.", "loyalty-stars")
DESCRIPTION = text("A short text for the marketplace's cards.", "Stars for regulars.")
CATEGORY = one_of("Where the marketplace lists it.", Category.values, "loyalty")
APP_SCOPES = names("What the app may do.", list(SCOPES), ["read_orders", "read_products"])
REDIRECT_URL = text(
    "Where merchants come back to with a code: HTTPS.", "https://stars.example.com/callback", format="uri"
)
WEBHOOK_URL = text(
    "Where deliveries and hook calls go: HTTPS, a public address.",
    "https://stars.example.com/events",
    format="uri",
)
EVENTS_WANTED = names(
    "What the app-defined webhook is told of; empty: all that the scopes allow.",
    NAMEABLE_EVENTS,
    ["order.created"],
)
VERSION = text("Semantic Versioning 2.0.", "1.4.0")
MOMENT = "2026-11-20T15:04:05.123Z"


def _app_fields() -> dict[str, Schema]:
    return {
        "id": identifier("The app.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a04"),
        "name": NAME,
        "slug": SLUG,
        "description": DESCRIPTION,
        "category": CATEGORY,
        "scopes": APP_SCOPES,
        "redirectUrl": REDIRECT_URL,
        "webhookUrl": or_null(WEBHOOK_URL),
        "webhookEvents": EVENTS_WANTED,
        "iconUrl": {**or_null(text("A path below the service's address.", "/media/x")), "examples": [None]},
        "screenshots": {
            **listing("Paths below the service's address.", text("One of them.", "/media/y")),
            "maxItems": MAX_SCREENSHOTS,
            "examples": [[]],
        },
        "version": VERSION,
        "approvedScopes": {
            **names("Those of the last approval.", list(SCOPES), ["read_orders"]),
            "examples": [[]],
        },
        "status": one_of("The state of the working copy.", AppStatus.values, "DRAFT"),
        "isListed": boolean("Whether merchants find it in the marketplace.", False),
        "manifest": {
            "type": "object",
            "description": "The extension definitions as they were saved; {} before.",
            "examples": [{}],
        },
        "clientId": text("The app's name in OAuth.", "kd8Fq2Vn0cQyX1"),
        "createdAt": moment("When it was registered.", MOMENT),
        "updatedAt": moment("When it last changed.", MOMENT),
    }


CLIENT_SECRET = text("The app's password in OAuth. No other answer shows it.", "fbcs_Wm3q…", pattern="^fbcs_")


def submission() -> Schema:
    changed = names("Scopes", list(SCOPES), ["read_orders"])
    return record(
        id=identifier("The submission.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a0c"),
        status=one_of("What became of it.", SubmissionStatus.values, "PENDING_REVIEW"),
        notes={**or_null(text("What the reviewer wrote to you.", "Say what the app does.")), "examples": [None]},
        version=VERSION,
        addedScopes={**changed, "description": "Scopes beyond those of the last approval."},
        removedScopes={**changed, "description": "Scopes that fall away.", "examples": [[]]},
        submittedAt=moment("When it was submitted.", MOMENT),
        decidedAt={**or_null(moment("When it was decided.", MOMENT)), "examples": [None]},
    )  # fmt: skip


def test_install() -> Schema:
    return record(
        installationId=wire_schemas.INSTALLATION_ID,
        accessToken=text("Opens the app API. No other answer shows it.", "fbat_test_5e…", pattern="^fbat_"),
        webhookSecret=text("Signs webhooks and hook calls.", "whsec_test_kT0g…", pattern="^whsec_"),
        businessId=BUSINESS_ID,
        isTestInstall=boolean("Always true.", True),
    )


def test_status() -> Schema:
    """Where the app is not installed, `installed` stands alone."""
    fields = {
        "installed": boolean("Whether the app is on your sandbox.", True),
        "installationId": wire_schemas.INSTALLATION_ID,
        "businessId": BUSINESS_ID,
        "isTestInstall": boolean("False after the conversion by an approval.", True),
        "scopes": names("What the token may do at this moment.", list(SCOPES), ["read_orders"]),
        "needsReConsent": boolean("Whether added scopes are still to be agreed to.", False),
        "installedAt": moment("When it was installed.", MOMENT),
        "lastUsedAt": or_null(moment("When the token was last used, to the minute.", MOMENT)),
    }
    return shape(fields, optional=[name for name in fields if name != "installed"])


def test_uninstalled() -> Schema:
    return record(
        installationId=wire_schemas.INSTALLATION_ID,
        uninstalledAt=moment("From now on the token is refused.", MOMENT),
        dataErasureAt=or_null(moment("When business.data_erasure is sent.", "2026-11-22T15:04:05.123Z")),
    )


def analytics() -> Schema:
    date = text("A day in UTC.", "2026-11-20", format="date")
    installs = record(
        date=date,
        installs=integer("Installed that day.", 3, minimum=0),
        uninstalls=integer("Uninstalled that day.", 1, minimum=0),
    )
    deliveries = record(
        date=date,
        successful=integer("Answered 2xx.", 42, minimum=0),
        failed=integer("Not.", 1, minimum=0),
    )
    return record(
        totalInstalls=integer("Installations ever made.", 12, minimum=0),
        activeInstalls=integer("Those not uninstalled.", 9, minimum=0),
        webhookSuccessRate=or_null(
            number("Successful of all deliveries, of 30 days; null when there is none.", 0.98, maximum=1)
        ),
        averageWebhookLatencyMs=or_null(number("Of attempts that were answered; null when none was.", 84.5)),
        installTrend=listing("Thirty days, the oldest first.", installs),
        webhookDeliveries=record(
            successful=integer("In 30 days.", 42, minimum=0),
            failed=integer("In 30 days.", 1, minimum=0),
            daily=listing("Thirty days, the oldest first.", deliveries),
        ),
    )


def sent_sample() -> Schema:
    return record(
        eventId=wire_schemas.EVENT_ID, deliveries=integer("How many webhooks are told.", 1, minimum=0)
    )


RECORDS: dict[str, Schema] = {
    "Manifest": record(manifest=manifest_schema.manifest()),
    "SavedManifest": manifest_schema.saved_manifest(),
    "App": record(**_app_fields()),
    "CreatedApp": record(**_app_fields(), clientSecret=CLIENT_SECRET),
    "ClientSecret": record(clientSecret=CLIENT_SECRET),
    "Submission": submission(),
    "TestInstall": test_install(),
    "TestStatus": test_status(),
    "TestUninstall": test_uninstalled(),
    "Analytics": analytics(),
    "SentSample": sent_sample(),
}

_APP: dict[str, Schema] = {
    "name": NAME | {"maxLength": LENGTHS["name"], "pattern": _NAME},
    "slug": SLUG | {"maxLength": LENGTHS["slug"], "pattern": _SLUG},
    "description": DESCRIPTION | {"maxLength": LENGTHS["description"], "pattern": _DESCRIPTION},
    "category": CATEGORY,
    "scopes": APP_SCOPES | {"minItems": 1},
    "redirectUrl": REDIRECT_URL | {"maxLength": 2048},
    # Empty and null both say that there is none.
    "webhookUrl": text(WEBHOOK_URL["description"], WEBHOOK_URL["examples"][0], maxLength=2048)
    | {"anyOf": [{"format": "uri"}, {"maxLength": 0}]},
    "webhookEvents": EVENTS_WANTED,
    "version": VERSION | {"maxLength": LENGTHS["version"], "pattern": _SEMVER},
}
_PICTURE: Schema = {
    "type": "string",
    "format": "binary",
    "description": "PNG, JPEG or WebP, at most 2 MiB.",
}

BODIES: Bodies = {
    NewApp: _APP,
    AppChanges: {
        **_APP,
        "slug": SLUG | {"description": "May be sent along unchanged."},
        "iconUrl": or_null(text("null removes the icon; else the address that it has.", "/media/x")),
        "icon": {},
        "screenshots": listing(
            "The set that replaces the former one: addresses that the app shows already. [] removes all.",
            text("An address.", "/media/y"),
            maxItems=MAX_SCREENSHOTS,
        ),
    },
    NewSubmission: {
        "howToTest": text("For the reviewer.", "Place an order.", maxLength=REMARKS["how_to_test"], pattern=_TEXT),
        "scopeReason": text("For merchants: why these scopes.", "To count stars.", maxLength=REMARKS["scope_reason"], pattern=_TEXT),
    },
    SampleEvent: {"event": one_of("The event to cause.", SAMPLES, "order.created")},
}  # fmt: skip

_PICTURES = shape(
    {
        "icon": {**_PICTURE, "examples": ["icon.png"]},
        "screenshots": {
            "type": "array",
            "items": _PICTURE,
            "maxItems": MAX_SCREENSHOTS,
            "description": "The set that replaces the former one.",
            "examples": [[]],
        },
    },
    optional=["icon", "screenshots"],
    about="Pictures, and any field of the JSON body as text.",
)
_IN_REVIEW = "The app is in review."

OPERATIONS: dict[str, Operation] = {
    "GET /developer/apps": Operation(
        "listApps", APPS, "List your apps", answer=page_of("App"), query=paging(20, 100),
    ),
    "POST /developer/apps": Operation(
        "createApp", APPS, "Register an app",
        "The answer holds the `clientSecret`, which is shown nowhere else.",
        status=201,
        answer=ref("CreatedApp"),
        answered="The app, a draft.",
        body=NewApp,
        errors={409: "The slug is taken."},
    ),
    "GET /developer/apps/{appId}": Operation("getApp", APPS, "Get an app", answer=ref("App")),
    "PATCH /developer/apps/{appId}": Operation(
        "changeApp", APPS, "Edit an app",
        "Any of the fields; pictures come as multipart/form-data. Editing an APPROVED app makes its working copy "
        "a DRAFT; the approved version stays listed.",
        answer=ref("App"),
        body=AppChanges,
        body_required=False,
        uploads=_PICTURES,
        errors={409: _IN_REVIEW},
        example={"description": "Stars for regulars, and a coffee for ten.", "version": "1.4.0"},
    ),
    "DELETE /developer/apps/{appId}": Operation(
        "deleteApp", APPS, "Delete an app", "While it was never approved.",
        status=204,
        errors={409: "The app was approved once, and merchants may use it."},
    ),
    "POST /developer/apps/{appId}/client-secret": Operation(
        "rotateClientSecret", APPS, "Regenerate the client secret", "The old one fails at once.",
        status=201,
        answer=ref("ClientSecret"),
    ),
    "GET /developer/apps/{appId}/manifest": Operation(
        "getManifest", EXTENSIONS, "Get an app's manifest",
        "As it was saved, without defaults; {} before the first save.",
        answer=ref("Manifest"),
    ),
    "PUT /developer/apps/{appId}/manifest": Operation(
        "saveManifest", EXTENSIONS, "Save an app's manifest",
        "Blocks, embeds, hooks and admin pages are in force at once. One that is left out is switched off and keeps its "
        "id. The manifest has at most 256 KiB.",
        answer=ref("SavedManifest"),
        body=manifest_schema.manifest(),
        errors={400: "Nothing was saved: `details` hold every problem with its path.", 409: _IN_REVIEW},
    ),
    "POST /developer/apps/{appId}/submit": Operation(
        "submitApp", REVIEW, "Submit an app for review", "DRAFT becomes PENDING_REVIEW.",
        status=201,
        answer=ref("Submission"),
        body=NewSubmission,
        body_required=False,
        errors={400: "The body is wrong, or something is missing from the app: `details` say what.", 409: "The app is in review or approved."},
    ),
    "GET /developer/apps/{appId}/submissions": Operation(
        "listSubmissions", REVIEW, "List an app's submissions", answer=page_of("Submission"), query=paging(50, 100),
    ),
    "POST /developer/apps/{appId}/withdraw": Operation(
        "withdrawApp", REVIEW, "Take a submission back", "While no reviewer holds it.",
        answer=ref("Submission"),
        errors={409: "The app is not in review, or a reviewer has taken it."},
    ),
    "POST /developer/apps/{appId}/test-install": Operation(
        "testInstall", TESTING, "Install an app for test",
        "On your sandbox. Installed already: the same installation and webhook secret, and a new access token.",
        status=201,
        answer=ref("TestInstall"),
    ),
    "GET /developer/apps/{appId}/test-status": Operation(
        "testStatus", TESTING, "Get the test install's state",
        "`installed` stands alone where the app is not installed.",
        answer=ref("TestStatus"),
    ),
    "POST /developer/apps/{appId}/test-uninstall": Operation(
        "testUninstall", TESTING, "End the test install",
        answer=ref("TestUninstall"),
        errors={409: "The app is not installed on your sandbox."},
    ),
    "POST /developer/apps/{appId}/test-events": Operation(
        "sendTestEvent", TESTING, "Cause an event", "With sample data, for your own sandbox alone.",
        status=202,
        answer=ref("SentSample"),
        body=SampleEvent,
        errors={409: "The app is not installed on your sandbox."},
    ),
    "GET /developer/apps/{appId}/analytics": Operation(
        "getAnalytics", OBSERVING, "Get an app's figures", "Installations on sandboxes are left out.",
        answer=ref("Analytics"),
    ),
    "GET /developer/apps/{appId}/deliveries": Operation(
        "listAppDeliveries", OBSERVING, "List an app's deliveries", "Over all of its installations.",
        answer=page_of("Delivery"),
        query=paging(50, 100) | {
            "status": one_of("Only these.", DeliveryStatus.values, "EXHAUSTED"),
            "event": one_of("Only of this event.", list(EVENTS), "order.created"),
            "installationId": words("Only of this installation.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a0a"),
        },
    ),
    "GET /developer/apps/{appId}/deliveries/{deliveryId}": Operation(
        "getAppDelivery", OBSERVING, "Get a delivery with its attempts", answer=ref("DeliveryWithAttempts"),
    ),
    "POST /developer/apps/{appId}/deliveries/{deliveryId}/redeliver": Operation(
        "redeliverForApp", OBSERVING, "Send a delivery again", "Under the same `X-Service-Event-Id`.",
        status=202,
        answer=ref("Delivery"),
        errors={409: "The webhook is inactive, or the delivery was a test."},
    ),
}  # fmt: skip
