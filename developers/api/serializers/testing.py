"""Changes on the sandbox store, and what happened at an app."""

from functools import partial
from typing import Any, Final

from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

from activity.feed import FAILED, KINDS
from common import lengths
from common.contacts import validate_email, validate_phone
from common.ids import parse_id
from common.rest.fields import Choice, Integer, Moment, Object, StringList, Text
from extensions.manifest.text import MAX_TEXT
from installations.limits import MAX_QUANTITY
from stores.serializers import BusinessId
from stores.services.sandbox_changes import Details
from webhooks import catalogue
from webhooks.enums import DeliveryStatus
from webhooks.serializers import DeliveryId, EventId
from webhooks.services.sandbox.changes import CHANGES, SCENARIOS

EVENTS = [*dict.fromkeys(event for act in CHANGES.values() for event in act.events), catalogue.DATA_ERASURE]
EventName = partial(Choice, EVENTS, "The event.", "order.created")
ScenarioName = partial(Choice, list(SCENARIOS), "The scenario.", "day")


class TestCustomerBody(serializers.Serializer):
    name = Text("The name.", "Kim Lee", required=False, max_length=lengths.PERSON)
    email = Text(
        "An e-mail address.",
        "kim@example.com",
        required=False,
        max_length=lengths.EMAIL,
        validators=[validate_email],
    )
    phone = Text(
        "A phone number.",
        "+1 555 0100",
        required=False,
        max_length=lengths.PHONE,
        validators=[validate_phone],
    )


TestSettings = partial(
    Object,
    f"The settings to save, as the merchant's form does ({catalogue.INSTALLATION_UPDATED}). Without them, one is changed.",
    {"greeting": "Hello"},
    required=False,
)


class _Details(serializers.Serializer):
    customer = TestCustomerBody(
        required=False,
        help_text="Who orders (`order.created`), by an e-mail address or a phone number or both; or who is erased "
        "(`customer.data_erasure`), by one of the two.",
    )
    productId = Text(
        "What is ordered (`order.created`); an available product of the store.",
        "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02",
        required=False,
        max_length=36,
    )
    quantity = Integer(
        "How many are ordered (`order.created`).", 1, required=False, min_value=1, max_value=MAX_QUANTITY
    )
    settings = TestSettings()


class TestChangeBody(_Details):
    """What `validated` reads. The documentation has the two kinds apart, since generators of clients need names for them."""

    event = EventName(required=False)
    scenario = ScenarioName(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("event" in attrs) == ("scenario" in attrs):
            raise serializers.ValidationError({"event": "Send either event or scenario."})
        taken = _TAKEN.get(attrs.get("event", ""), ())
        problems: dict[str, Any] = {
            name: f"Only {' and '.join(event for event, names in _TAKEN.items() if name in names)} can have it."
            for name in ("customer", "productId", "quantity", "settings")
            if name in attrs and name not in taken
        }
        if product := attrs.get("productId"):
            attrs["productId"] = parse_id(product)
            if attrs["productId"] is None:
                problems["productId"] = "Must be the ID of a product."
        if not problems and (customer := attrs.get("customer")) is not None:
            contacts = len({"email", "phone"} & customer.keys())
            if not contacts:
                problems["customer"] = "Give an e-mail address or a phone number."
            elif contacts == 2 and attrs["event"] == catalogue.CUSTOMER_ERASURE:
                problems["customer"] = "Give either the e-mail address or the phone number."
        if problems:
            raise serializers.ValidationError(problems)
        return attrs


_TAKEN: Final = {
    "order.created": ("customer", "productId", "quantity"),
    catalogue.CUSTOMER_ERASURE: ("customer",),
    catalogue.INSTALLATION_UPDATED: ("settings",),
}


def details_of(wanted: dict[str, Any]) -> Details:
    """Of the validated body of a change."""
    product = {"product": wanted["productId"]} if "productId" in wanted else {}
    return Details(
        **wanted.get("customer", {}),
        **product,
        quantity=wanted.get("quantity", 1),
        settings=wanted.get("settings"),
    )


class TestEventBody(_Details):
    event = EventName()


class TestScenarioBody(serializers.Serializer):
    scenario = ScenarioName()


EITHER_TEST_CHANGE: Final = PolymorphicProxySerializer(
    component_name="TestChangeBody",
    serializers=[TestEventBody, TestScenarioBody],
    resource_type_field_name=None,
)


class TestChangeSerializer(serializers.Serializer):
    event = EventName()
    title = Text("The change that causes it.", "Place a test order")


class TestScenarioSerializer(serializers.Serializer):
    scenario = ScenarioName()
    title = Text("A few words.", "A day of trading")
    description = Text("Its steps.", "An order is placed, confirmed, delivered and reviewed.")


class TestChangesSerializer(serializers.Serializer):
    changes = TestChangeSerializer(many=True, help_text="For each event, the change that causes it.")
    scenarios = TestScenarioSerializer(many=True, help_text="Several changes, one after the other.")


class CausedDeliverySerializer(serializers.Serializer):
    id = DeliveryId()
    status = Choice(DeliveryStatus.choices, "At the time of this response.", "PENDING")


class CausedEventSerializer(serializers.Serializer):
    event = Text("Its name.", "order.created")
    eventId = EventId(allow_null=True)
    deliveries = CausedDeliverySerializer(many=True, help_text="To the app's webhooks.")
    reason = Text(
        "Why there are none, or not to all webhooks that list the event: the condition of a filter.",
        None,
        allow_null=True,
    )
    data = Object(  # type: ignore[assignment]  # the name in the API
        "The event's data; null if there was no event, because no installation may see it.",
        {"orderId": "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a04", "orderNumber": "1042"},
        allow_null=True,
    )


class TestStepSerializer(serializers.Serializer):
    title = Text("The change.", "Place a test order")
    result = Text("What it did.", "Order 1042 was placed.", allow_null=True)
    problem = Text("Why it did nothing.", None, allow_null=True)
    events = CausedEventSerializer(many=True, help_text="What it caused.")


class TestStepsSerializer(serializers.Serializer):
    steps = TestStepSerializer(many=True, help_text="In the order in which they were carried out.")


POSITION: Final = "1763650000000000.webhook.01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a06"


class ActivityFilters(serializers.Serializer):
    """The query parameters of `ActivityView`, for the documentation."""

    kind = Choice(KINDS, "Only API calls, hook calls or webhook deliveries.", "webhook", required=False)
    status = Choice([FAILED], "Only what failed.", FAILED, required=False)
    before = Text("`next` of the page before.", POSITION, required=False, max_length=100)


class EntrySerializer(serializers.Serializer):
    id = Text("The request, the hook call or the delivery.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a06")
    kind = Choice(KINDS, "API call, hook call or webhook delivery.", "webhook")
    at = Moment("When it began.")
    name = Text("Method and path, the hook point, or the event.", "order.created")
    status = Text("The HTTP status of a call, else the outcome.", "SUCCEEDED")
    httpStatus = Integer("Of the newest response.", 200, allow_null=True)
    durationMs = Integer("Of the newest response.", 42, allow_null=True, min_value=0)
    reason = Text("What happened, in words; null for a call that succeeded.", None, allow_null=True)
    businessId = BusinessId()
    requestId = Text("The request that caused it.", None, allow_null=True)


class ActivitySerializer(serializers.Serializer):
    data = EntrySerializer(many=True, help_text="Newest first, at most 50.")  # type: ignore[assignment]  # the name in the API
    next = Text("`before` of the next page; null at the end.", None, allow_null=True)


class ManifestTextBody(serializers.Serializer):
    text = Text(
        "The manifest as it is in the file.",
        "{}",
        allow_blank=True,
        trim_whitespace=False,
        max_length=MAX_TEXT,
    )


class ManifestProblemSerializer(serializers.Serializer):
    path = Text("The field; empty for the whole document.", "blocks[0].name", allow_blank=True)
    message = Text("What is wrong.", "Must not be empty.")
    line = Integer("From 1.", 4, min_value=1)
    column = Integer("From 1.", 15, min_value=1)
    suggestion = Text("What to write there, as JSON.", None, allow_null=True)


class PlannedChangeSerializer(serializers.Serializer):
    change = Text("Added, Updated, Back or Switched off.", "Added")
    type = Text("The kind of extension.", "Block")
    key = Text("Its key.", "stars")
    reach = Text("Where it runs, or no longer runs.", "Can be placed in 1 installation.")


class FieldDifferenceSerializer(serializers.Serializer):
    field = Text("The extension, or its field.", "Block stars: name")
    before = StringList("The lines before.", ["Stars"])
    after = StringList("The lines after.", ["Star rating"])


class CheckedManifestSerializer(serializers.Serializer):
    problems = ManifestProblemSerializer(many=True, help_text="The first 100.")
    problemCount = Integer("How many there are.", 0, min_value=0)
    changes = PlannedChangeSerializer(
        many=True, help_text="What saving it would change; empty with problems."
    )
    differences = FieldDifferenceSerializer(
        many=True, help_text="To the saved manifest; empty with problems."
    )
