"""Around the rows that a shop pushes: their versions, batches, comparisons, and the result of each."""

from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.models import EXTERNAL_ID
from common.rest.fields import Boolean, Choice, Identifier, Integer, Object, StringList, example_of
from stores.connected.bodies import (
    MOST_VERSION,
    SHOP_ID,
    Forced,
    OptionalBoolean,
    Rfc3339,
    ShopId,
    Version,
    Versioned,
    WholeBody,
)
from stores.connected.rows import Result
from stores.connected.snapshot import MOST_ROWS
from stores.enums import Resource


def with_version(row: type[WholeBody]) -> type[serializers.Serializer]:
    """The body of a PUT: the fields of a row, and its version beside them."""
    return type(f"Pushed{row.__name__}", (Versioned, row), {})


class Deletion(serializers.Serializer):
    """The query of a DELETE."""

    version = Version()


class BatchedRow(WholeBody):
    """A row of a batch. `data` is read by its `resource`."""

    resource = Choice(Resource.choices, "What it is.", "products")
    id = ShopId("The shop's id of it.", "p-1")
    version = Version()
    force = Forced()
    data = Object(
        "The fields of the row, as of a PUT.",
        {"name": "Espresso beans", "price": 12.5},
        required=False,
        allow_null=True,
    )  # type: ignore[assignment]
    deleted = OptionalBoolean("The shop has deleted it.", False, default=False)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if values["deleted"] == (values.get("data") is not None):
            raise serializers.ValidationError({"data": ["Give data, or deleted: true, one of the two."]})
        return values


BATCHED_ROW: Final = BatchedRow()  # for all rows: making its fields takes longer than reading a row


class RowsBody(WholeBody):
    quiet = OptionalBoolean("Publish no event.", False, default=False)
    rows: Any = serializers.ListField(
        child=serializers.JSONField(),
        min_length=1,
        max_length=500,
        initial=[example_of(BatchedRow())],
        help_text="Each for itself, in their order.",
    )


@extend_schema_field({"type": "array", "items": {"type": ["string", "integer"], "maxLength": EXTERNAL_ID}})
class SnapshotRow(serializers.Field):
    """`[id, version]`."""

    def to_internal_value(self, data: Any) -> tuple[str, int]:
        external_id, version = data if isinstance(data, list) and len(data) == 2 else ("", 0)
        if not isinstance(external_id, str) or SHOP_ID.fullmatch(external_id) is None:
            raise serializers.ValidationError("Must be [id, version], with an id of the shop.")
        if isinstance(version, bool) or not isinstance(version, int) or not 0 <= version <= MOST_VERSION:
            raise serializers.ValidationError("Must be [id, version], with an integer of at least 0.")
        return external_id, version

    def to_representation(self, value: tuple[str, int]) -> list[Any]:
        return list(value)


class SnapshotBody(WholeBody):
    resource = Choice(Resource.choices, "What is compared.", "products")
    after = ShopId(
        "Where the interval begins, without this id; none: at the first.",
        "p-1",
        default=None,
        allow_null=True,
    )
    until = ShopId("Where it ends, with this id; none: at the last.", "p-9", default=None, allow_null=True)
    rows: Any = serializers.ListField(
        child=SnapshotRow(),
        max_length=MOST_ROWS,
        initial=[["p-2", 7]],
        help_text="All of the interval: [id, version], by id.",
    )
    delete = OptionalBoolean("Delete what the shop has not.", False, default=False)
    takenAt = Rfc3339(
        "When the shop read its rows: a row that was received here later isn't missed there.",
        default=None,
        allow_null=True,
        source="taken_at",
    )

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if values["delete"] and values["taken_at"] is None:
            raise serializers.ValidationError({"takenAt": ["Required with delete."]})
        before, until = values["after"], values["until"]
        for number, (external_id, _) in enumerate(values["rows"]):
            is_in_order = before is None or external_id > before
            if not is_in_order or (until is not None and external_id > until):
                problem = "Must be within the interval, sorted by code points, each id once."
                raise serializers.ValidationError({f"rows[{number}]": [problem]})
            before = external_id
        return values


class OutcomeSerializer(serializers.Serializer):
    """What became of a row."""

    resource = Choice(Resource.choices, "What it is.", "products")
    id = Identifier(
        "Our id of it; null if nothing is kept.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02", allow_null=True
    )
    externalId = Identifier("The shop's id of it.", "p-1")
    result = Choice(Result.choices, "What was done.", "created")
    events = StringList("The events that it published.", ["product.created"])
    quote = Choice(
        [("taken", "Taken"), ("differs", "Differs"), ("ignored", "Ignored")],
        "Of an order that names a quote.",
        "ignored",
        required=False,
    )


class OutcomesSerializer(serializers.Serializer):
    results = serializers.ListField(
        child=serializers.JSONField(),
        initial=[example_of(OutcomeSerializer())],
        help_text="One for each row, in their order; of a refused one with its error.",
    )


class KnownRowSerializer(serializers.Serializer):
    resource = Choice(Resource.choices, "What it is.", "products")
    id = Identifier("Our id of it; null of one that was deleted before it came.", allow_null=True)
    externalId = Identifier("The shop's id of it.", "p-1")
    version = Version()
    deleted = Boolean("Whether it is deleted.", False)


class DifferencesSerializer(serializers.Serializer):
    missing = StringList("To be sent: they aren't here.", ["p-2"])
    outdated = StringList("To be sent: the version here is lower.", ["p-3"])
    ahead = StringList("Here is a higher version: send it with force, if the shop's counts.", [])
    unknown = StringList("Here, but not in the shop.", ["p-4"])
    deleted = Integer("How many of those were deleted now.", 1)
