"""The rows of a store: one, many, and a comparison of all (contract, section 17)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from time import monotonic, sleep
from typing import Any, ClassVar, Final, cast
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from accounts.models import EXTERNAL_ID, ConnectedStore
from common import places
from common.db.transactions import is_open
from common.errors import ERROR_CODE_HEADER, NotFound
from common.places import Work
from common.rest.errors import exception_handler
from common.rest.fields import Identifier
from extensions.shops.commands import with_owners
from storeapi import pushes
from storeapi.views.base import StoreView, checked_id
from storeapi.wanted import wanted_among
from stores.connected import bodies
from stores.connected.mirror import locked, note_refused
from stores.connected.repeats import SentRow, take_repeated
from stores.connected.rows import AT_ONCE, PushedRow, Result, RowOutcome, take
from stores.connected.snapshot import Snapshot, compare
from stores.connected.wanted import WantedRows
from stores.enums import Resource
from stores.models import MirroredRow

FEW: Final = 100  # rows that are taken in less than half a second
# A shop that sends all it has again, of which nothing changes, leaves most of the machine to those whom people wait for.
REPEATED_A_SECOND: Final = 2_500
SENT: Final = ("resource", "id", "version", "data")
RESOURCES: Final = frozenset(Resource.values)
LONGEST_ECHO: Final = 100  # characters of what a refused row called itself


def _payload(outcome: RowOutcome) -> dict[str, Any]:
    """Of one without an error."""
    assert outcome.result
    found = _found(outcome.row, outcome.row_id, outcome.result, outcome.events)
    return found | {"quote": outcome.quote.value} if outcome.quote else found


def _found(
    row: PushedRow | SentRow, row_id: UUID | None, result: Result, events: Sequence[str] = ()
) -> dict[str, Any]:
    return {
        "resource": row.resource.value,
        "id": row_id and str(row_id),
        "externalId": row.external_id,
        "result": result.value,
        "events": events,
    }


class RowView(StoreView):
    """One row, below its resource."""

    tag = "Rows"
    resource: ClassVar[Resource]
    path_fields = {
        **StoreView.path_fields,
        "id": Identifier("The shop's id of the row.", "p-1", max_length=EXTERNAL_ID),
    }

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        checked_id(kwargs["id"])

    def get(self, request: Request, **kwargs: str) -> Response:
        """Get what is known of a row."""
        of_store = MirroredRow.objects.filter(business=self.store.pk, version__isnull=False)
        row = of_store.filter(resource=self.resource, external_id=kwargs["id"]).first()
        if row is None:
            raise NotFound("Row not found")
        return Response(
            {
                "resource": row.resource,
                "id": row.row_id and str(row.row_id),
                "externalId": row.external_id,
                "version": row.version,
                "deleted": row.is_deleted,
            }
        )

    def put_row(self, request: Request) -> Response:
        store = self.store
        try:
            row = bodies.read_row(
                self.resource, self.kwargs["id"], dict(request.data), store.business.currency
            )
        except ValidationError as error:
            _refuse(store, [_refusal(self.resource, self.kwargs["id"], error)])
            raise
        return self._taken(row)

    def _taken(self, row: PushedRow) -> Response:
        rows = with_owners(self.business, [row])
        (outcome,) = take(store=self.store, rows=rows, wanted=wanted_among([row.resource], self.business))
        if outcome.error:
            raise outcome.error
        return Response(_payload(outcome))

    def delete_row(self) -> Response:
        query = self.query()
        version = query.integer("version", default=-1, least=0, most=bodies.MOST_VERSION)
        if "version" not in query.values:
            query.wrong("version", "Required: the version of the deletion.")
        query.check()
        return self._taken(
            PushedRow(resource=self.resource, external_id=self.kwargs["id"], version=version, values=None)
        )


@extend_schema_view(get=extend_schema("getProductRow", responses=pushes.KnownRowSerializer))
class ProductRowDetail(RowView):
    resource = Resource.PRODUCTS

    @extend_schema(
        "putProductRow", request=pushes.with_version(bodies.ProductRow), responses=pushes.OutcomeSerializer
    )
    def put(self, request: Request, **kwargs: str) -> Response:
        """Push a product."""
        return self.put_row(request)

    @extend_schema(
        "deleteProductRow", parameters=[pushes.Deletion], responses={200: pushes.OutcomeSerializer}
    )
    def delete(self, request: Request, **kwargs: str) -> Response:
        """Delete a product. Its reviews stay."""
        return self.delete_row()


@extend_schema_view(get=extend_schema("getOrderRow", responses=pushes.KnownRowSerializer))
class OrderRowDetail(RowView):
    """Orders can't be deleted."""

    resource = Resource.ORDERS

    @extend_schema(
        "putOrderRow", request=pushes.with_version(bodies.OrderRow), responses=pushes.OutcomeSerializer
    )
    def put(self, request: Request, **kwargs: str) -> Response:
        """Push an order."""
        return self.put_row(request)


@extend_schema_view(get=extend_schema("getReviewRow", responses=pushes.KnownRowSerializer))
class ReviewRowDetail(RowView):
    resource = Resource.REVIEWS

    @extend_schema(
        "putReviewRow", request=pushes.with_version(bodies.ReviewRow), responses=pushes.OutcomeSerializer
    )
    def put(self, request: Request, **kwargs: str) -> Response:
        """Push a review."""
        return self.put_row(request)

    @extend_schema("deleteReviewRow", parameters=[pushes.Deletion], responses={200: pushes.OutcomeSerializer})
    def delete(self, request: Request, **kwargs: str) -> Response:
        """Delete a review."""
        return self.delete_row()


@extend_schema_view(get=extend_schema("getPageRow", responses=pushes.KnownRowSerializer))
class PageRowDetail(RowView):
    resource = Resource.PAGES

    @extend_schema(
        "putPageRow", request=pushes.with_version(bodies.PageRow), responses=pushes.OutcomeSerializer
    )
    def put(self, request: Request, **kwargs: str) -> Response:
        """Push a page."""
        return self.put_row(request)

    @extend_schema("deletePageRow", parameters=[pushes.Deletion], responses={200: pushes.OutcomeSerializer})
    def delete(self, request: Request, **kwargs: str) -> Response:
        """Delete a page."""
        return self.delete_row()


class RowBatch(StoreView):
    tag = "Rows"

    @extend_schema("pushRows", request=pushes.RowsBody, responses=pushes.OutcomesSerializer)
    def post(self, request: Request, **kwargs: str) -> Response:
        """Push 1 to 500 rows.

        Each row for itself. The call counts as one for each 50 rows begun.
        """
        batch = self.read(pushes.RowsBody)
        given, began = dict(enumerate(batch["rows"])), monotonic()
        self.count_more((len(given) - 1) // AT_ONCE)
        if len(given) > FEW:
            places.require(Work.ROWS)
        store = self.store
        sent = {number: row for number, each in given.items() if (row := _sent(each))}
        wanted = wanted_among(_resources(given.values()), store.business)
        ids = take_repeated(store=store, rows=sent, wanted=wanted)
        results = {number: _found(sent[number], row_id, Result.UNCHANGED) for number, row_id in ids.items()}
        rest = {number: each for number, each in given.items() if number not in ids}
        results |= self._pushed(rest, wanted, quiet=batch["quiet"])
        if not is_open():
            sleep(max(0.0, len(ids) / REPEATED_A_SECOND - (monotonic() - began)))
        return Response({"results": [results[number] for number in given]})

    def _pushed(
        self, given: Mapping[int, Any], wanted: WantedRows, *, quiet: bool
    ) -> dict[int, dict[str, Any]]:
        """The answer for each of these rows, by its number."""
        read = {number: _batched(each, self.business.currency) for number, each in given.items()}
        rows = with_owners(self.business, [row for row, _ in read.values() if row])
        taken = iter(take(store=self.store, rows=rows, wanted=wanted, quiet=quiet))
        results = {
            number: _result(next(taken)) if row else refused for number, (row, refused) in read.items()
        }
        _refuse(self.store, [_named(each) for _, each in read.values() if each])
        return results


def _resources(given: Iterable[Any]) -> set[Resource]:
    names = (each.get("resource") for each in given if isinstance(each, Mapping))
    return {Resource(name) for name in names if isinstance(name, str) and name in RESOURCES}


def _sent(given: Any) -> SentRow | None:
    """A row that may be kept as it came: whole, without a quote, taken by its version. Others are read with all their problems."""
    if not isinstance(given, Mapping) or given.keys() ^ SENT:
        return None
    resource, external_id, version, fields = (given[name] for name in SENT)
    if not isinstance(resource, str) or resource not in RESOURCES or type(version) is not int:
        return None
    if not isinstance(external_id, str) or bodies.SHOP_ID.fullmatch(external_id) is None:
        return None
    if not isinstance(fields, Mapping) or bodies.QUOTED in fields:
        return None
    return SentRow(Resource(resource), external_id, version, fields)


Read = tuple[PushedRow | None, dict[str, Any]]


def _batched(given: Any, currency: str) -> Read:
    """The row, or what is answered for one that is refused."""
    try:
        envelope = pushes.BATCHED_ROW.run_validation(given)
        resource = Resource(envelope["resource"])
        if envelope["deleted"] and resource == Resource.ORDERS:
            raise MethodNotAllowed("DELETE", detail="Orders can't be deleted.")
        values = None if envelope["deleted"] else bodies.values_of(resource, envelope["data"], currency)
    except (ValidationError, MethodNotAllowed) as error:
        return None, _refused(given, error)
    quote = values.pop("quote", "") if values else ""
    row = PushedRow(
        resource=resource,
        external_id=envelope["id"],
        version=envelope["version"],
        values=values,
        is_forced=envelope["force"],
        quote=quote,
        sent=bodies.without_quote(envelope["data"]) if values is not None else None,
    )
    return row, {}


def _result(outcome: RowOutcome) -> dict[str, Any]:
    if outcome.error:
        return _refused(
            {"resource": outcome.row.resource.value, "id": outcome.row.external_id}, outcome.error
        )
    return _payload(outcome)


def _refused(given: Any, error: Exception) -> dict[str, Any]:
    """What the row calls itself, and the error that a PUT of it would get."""
    named = given if isinstance(given, Mapping) else {}
    return {
        "resource": _echo(named.get("resource")),
        "externalId": _echo(named.get("id")),
        "error": _error_of(error),
    }


def _error_of(error: Exception) -> dict[str, Any]:
    answer = exception_handler(error, {})
    return {"details": [], **cast(dict[str, Any], answer.data), "code": answer[ERROR_CODE_HEADER]}


def _echo(given: Any) -> str | None:
    return given[:LONGEST_ECHO] if isinstance(given, str) else None


def _storable(name: str | None) -> str | None:
    return None if name and "\x00" in name else name


def _refusal(resource: Resource, external_id: str, error: Exception) -> dict[str, Any]:
    return _named({"resource": resource.value, "externalId": external_id, "error": _error_of(error)})


def _named(refused: Mapping[str, Any]) -> dict[str, Any]:
    """For the operator: without the values of the row, which no message has. A name with NUL, which PostgreSQL can't keep, is left out."""
    error = refused["error"]
    return {
        "resource": _storable(refused["resource"]),
        "externalId": _storable(refused["externalId"]),
        "code": error["code"],
        "message": error["message"],
    }


def _refuse(store: ConnectedStore, refused: list[dict[str, Any]]) -> None:
    if not refused:
        return
    with transaction.atomic():
        state = locked(store)
        note_refused(state, refused, timezone.now())
        state.save(update_fields=["refused"])


class RowSnapshot(StoreView):
    tag = "Rows"

    @extend_schema("compareRows", request=pushes.SnapshotBody, responses=pushes.DifferencesSerializer)
    def post(self, request: Request, **kwargs: str) -> Response:
        """Compare all rows of an interval.

        Rows that the shop deleted unnoticed can be deleted here, too. Orders are only named. At most 5,000 unknown rows are named at once.
        """
        body = self.read(pushes.SnapshotBody)
        snapshot = Snapshot(
            resource=Resource(body["resource"]),
            after=body["after"],
            until=body["until"],
            versions=dict(body["rows"]),
            taken_at=body["taken_at"],
            deletes=body["delete"],
        )
        found = compare(
            store=self.store, snapshot=snapshot, wanted=wanted_among([snapshot.resource], self.business)
        )
        return Response(asdict(found))
