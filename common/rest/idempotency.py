"""Answers a repeated call with the first answer, and carries it out only once (contract, section 18).

Every `KeyedView` has it, for each unsafe method: it wraps the method in `answer_once`, which takes these steps:

1. `_begin` claims the key for `LEASE`, or returns the answer that is kept. It raises `Conflict` while the first call runs, or if the
   key was used for another call.
2. The method runs in a transaction, in which its answer is written. So a crash can't separate them. If another try has taken over in
   the meantime, the transaction is rolled back: no call ever has two effects. A method that waits for servers of others runs without a
   transaction, and may keep its answer in one of its own (`JsonView.keep`).
3. An answer that isn't kept, such as a failure of ours, frees the key.

If the process dies, the lease ends. The next try then gets the answer that was kept, or takes over.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, Literal, Protocol
from uuid import UUID

import orjson
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Count, QuerySet, Sum
from django.http import HttpResponse, HttpResponseBase
from django.utils import timezone
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from common import errors
from common.db.leases import held, take
from common.models import KeptAnswer
from common.rest.bodies import JsonRenderer

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotency-Replayed"
REPLAYED_BEFORE_1_0: Final = "Idempotent-Replayed"  # of orders since 0.1.0
MAX_KEY: Final = 255
KEPT_FOR: Final = timedelta(hours=24)
# Longer than an order takes when every hook uses its whole budget. A slower try is overtaken, and what it did is undone.
LEASE: Final = timedelta(seconds=60)
MOST_KEYS: Final = 100_000  # of an owner
MOST_SIZE: Final = 64 * 1024 * 1024  # characters of an owner's answers
BATCH: Final = 1000

_KEPT_ERRORS: Final = (409, 410, 422)
_KEPT_HEADERS: Final = ("Cache-Control", "Retry-After", errors.ERROR_CODE_HEADER)
_UUID: Final = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

Handler = Callable[..., HttpResponseBase]


def owner_of(kind: Literal["installation", "person", "shop"], key: UUID) -> str:
    return f"{kind}:{key}"


class Repeatable(Protocol):
    """What a view knows about its calls."""

    waits_for_strangers: bool
    is_one_transaction: ClassVar[bool]
    claim: "ClaimedKey | None"

    def key_owner(self) -> str: ...
    def has_foreign_path(self) -> bool: ...
    def needs(self) -> str: ...
    def still_may(self, needs: str) -> None: ...
    def handle_exception(self, exc: Exception) -> Response: ...


class ApiRequest(Request):
    """Knows whether its body was read: only what was read is compared."""

    was_read = False

    @property
    def data(self) -> Any:
        self.was_read = True
        return super().data


@dataclass(slots=True)
class ClaimedKey:
    """A key that a call has claimed."""

    row: KeptAnswer
    key: str


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @classmethod
    def of(cls, response: HttpResponseBase) -> "Answer":
        if isinstance(response, Response):
            body = JsonRenderer().render(response.data)
        else:
            assert isinstance(response, HttpResponse), "a stream isn't kept"
            body = response.content
        kept = {name: response[name] for name in _KEPT_HEADERS if name in response}
        return cls(response.status_code, kept, body)

    @property
    def response(self) -> HttpResponse:
        """The same answer again. An empty one has no type."""
        response = HttpResponse(self.body, status=self.status, content_type="application/json")
        if not self.body:
            del response["Content-Type"]
        for name, value in self.headers.items():
            response[name] = value
        response[REPLAYED] = response[REPLAYED_BEFORE_1_0] = "true"
        return response


def answer_once(
    view: Repeatable, handler: Handler, request: ApiRequest, *args: Any, **kwargs: Any
) -> HttpResponseBase:
    """Do what `handler` does for the first call with its key, and answer each repeated one alike.

    A call without a key, and one for a thing of others, is passed on. Raises `Invalid` for a key that can't be one, `Conflict` while the
    first call runs or if the key was used for another, `TooManyRequests` for an owner of too many keys, and what reading the body raises.
    """
    key = request.headers.get(HEADER)
    if key is None or view.has_foreign_path():
        return handler(request, *args, **kwargs)
    _check(key, request)
    begun = _begin(view.key_owner(), key, request)
    if isinstance(begun, KeptAnswer):
        view.still_may(begun.needs)
        # Read outside of a transaction, since a body may come slowly.
        if begun.body_digest and begun.body_digest != _digest_of_body(request):
            raise reused()
        return _opened(begun, key).response
    view.claim = begun
    try:
        return _carried_out(view, begun, request, lambda: handler(request, *args, **kwargs))
    except BaseException:
        _release(begun)
        raise


def keep(
    claim: ClaimedKey, response: HttpResponseBase, request: ApiRequest, *, needs: str = "", ends: bool = False
) -> None:
    """Write the answer, in the transaction of what the call changes. Unless it `ends` the call, this still counts as running.

    Raises `Conflict` if another try has taken over, to roll the transaction back.
    """
    answer = Answer.of(response)
    sealed = _seal(claim, answer)
    changes: dict[str, Any] = {"lease_until": None} if ends else {}
    written = _mine(claim).update(
        status=answer.status, answer=sealed, size=len(sealed), needs=needs, about=_ids(answer.body),
        body_digest=_digest_of_body(request) if request.was_read else "", **changes,
    )  # fmt: skip
    if not written:
        raise errors.Conflict(
            "This request took too long, and another one with its Idempotency-Key took over.",
            code="idempotency_key_taken_over",
        )


def reused() -> errors.Conflict:
    return errors.Conflict(
        "This Idempotency-Key was used with another request.", code="idempotency_key_reused"
    )


def in_progress() -> errors.Conflict:
    return errors.Conflict(
        "The first request with this Idempotency-Key is still in progress.",
        code="idempotency_key_in_progress",
    )


def kept_for(owners: Collection[str]) -> QuerySet[KeptAnswer]:
    return KeptAnswer.objects.filter(owner__in=owners)


def forget(owner: str) -> None:
    """Of an owner who has ended: their credential can't repeat a call."""
    KeptAnswer.objects.filter(owner=owner).delete()


def delete_expired(*, now: datetime | None = None) -> int:
    """Delete expired answers in small batches. Returns how many."""
    expired = KeptAnswer.objects.filter(expires_at__lte=now or timezone.now())
    removed = 0
    while ids := list(expired.values_list("pk", flat=True)[:BATCH]):
        # Filtered by the expiry again: a listed key may have been reused in the meantime.
        count, _ = expired.filter(pk__in=ids).delete()
        removed += count
        if not count:
            break
    return removed


def erase(kept: QuerySet[KeptAnswer], is_about: Callable[[str], bool]) -> None:
    """Empty those answers whose ids are of somebody who is erased, and every error: it may name the person, and nothing was done.

    Their keys go on refusing a second call.
    """
    for row in kept.exclude(answer="").iterator(chunk_size=BATCH):
        if (row.status or 0) >= 400 or is_about(row.about):
            # The key may have been claimed for another call in the meantime.
            same = KeptAnswer.objects.filter(pk=row.pk, answer=row.answer)
            same.update(answer="", about="", size=0)


def _carried_out(
    view: Repeatable, claim: ClaimedKey, request: ApiRequest, work: Callable[[], HttpResponseBase]
) -> HttpResponseBase:
    is_apart = view.waits_for_strangers or not view.is_one_transaction
    together: AbstractContextManager[Any] = nullcontext() if is_apart else transaction.atomic()
    is_kept = False
    with together:
        try:
            response = work()
            is_kept = response.status_code < 300
        except (errors.ServiceError, APIException) as error:
            is_kept = not isinstance(error, APIException) and _is_kept(error)
            response = view.handle_exception(error)
        if is_kept:
            keep(claim, response, request, needs=view.needs(), ends=True)
    if not is_kept:
        _release(claim)
    return response


def _is_kept(error: errors.ServiceError) -> bool:
    """A thing that the path names may belong to others, which must look like one that is absent."""
    return error.status in _KEPT_ERRORS or isinstance(error, errors.NotInBody)


def _check(key: str, request: ApiRequest) -> None:
    if not 1 <= len(key) <= MAX_KEY or not (key.isascii() and key.isprintable()):
        request.data  # noqa: B018  415 and 413 come first
        message = f"Must be 1 to {MAX_KEY} printable ASCII characters."
        raise errors.Invalid.field(HEADER, message, code="wrong_idempotency_key")


@transaction.atomic
def _begin(owner: str, key: str, request: ApiRequest) -> ClaimedKey | KeptAnswer:
    now = timezone.now()
    path = (request.path.rstrip("/"), request.META.get("QUERY_STRING", ""))
    digest = _digest(str(request.method), *path)
    fresh: dict[str, Any] = {"request_digest": digest, "created_at": now, "expires_at": now + KEPT_FOR}
    found = KeptAnswer.objects.select_for_update().filter(owner=owner, key_digest=_digest(owner, key))
    row = found.first()
    if row is None:
        _count(owner, now)
        row, created = found.get_or_create(
            owner=owner, key_digest=_digest(owner, key), defaults=fresh | {"lease_until": now + LEASE}
        )
        if created:
            return ClaimedKey(row, key)
    is_old = row.expires_at <= now
    if row.request_digest != digest and not is_old:
        raise reused()
    if row.lease_until is not None and row.lease_until > now:
        raise in_progress()
    if row.status is not None and not is_old:
        return row
    emptied = {"status": None, "answer": "", "size": 0, "about": "", "body_digest": ""}
    changes = fresh | emptied if is_old else {}
    row.lease_until = take(KeptAnswer.objects.filter(pk=row.pk), lasts=LEASE, now=now, **changes)
    return ClaimedKey(row, key)


def _count(owner: str, now: datetime) -> None:
    """Raises `TooManyRequests` for an owner with too many keys, or answers that are too long together."""
    kept = KeptAnswer.objects.filter(owner=owner)
    found = kept.aggregate(keys=Count("pk"), size=Sum("size", default=0))
    if found["keys"] < MOST_KEYS and found["size"] < MOST_SIZE:
        return
    oldest = kept.order_by("expires_at").values_list("expires_at", flat=True)[0]
    raise errors.TooManyRequests(
        "Too many answers are kept for your Idempotency-Keys. Use fewer, or call without one.",
        retry_after=max(1, int((oldest - now).total_seconds())),
        code="too_many_keys",
    )


@transaction.atomic
def _release(claim: ClaimedKey) -> None:
    """End the claim, so that the call can be tried again at once."""
    _mine(claim).filter(status=None).delete()
    _mine(claim).update(lease_until=None)


def _mine(claim: ClaimedKey) -> QuerySet[KeptAnswer]:
    """Empty once another try has taken over."""
    return held(KeptAnswer.objects.filter(pk=claim.row.pk), claim.row.lease_until)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _digest_of_body(request: ApiRequest) -> str:
    """Of JSON by value, of a form by its fields and its files' bytes."""
    data = request.data
    if hasattr(data, "lists"):  # a form
        data = {name: [_of_form(each) for each in values] for name, values in data.lists()}
    return hashlib.sha256(orjson.dumps(_by_value(data), option=orjson.OPT_SORT_KEYS)).hexdigest()


def _of_form(value: Any) -> Any:
    if not isinstance(value, UploadedFile):
        return str(value)
    value.seek(0)
    digest = hashlib.sha256()
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return [value.name, digest.hexdigest()]


def _by_value(value: Any) -> Any:
    """1.0 is the number 1."""
    if isinstance(value, Mapping):
        return {name: _by_value(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_by_value(each) for each in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    return value


def _ciphers(owner: str, key: str) -> MultiFernet:
    """Made of both, so that neither the database nor `FIELD_ENCRYPTION_KEYS` reads an answer without the other's key."""
    name = f"idempotency\n{owner}\n{key}".encode()
    made = [
        hmac.digest(base64.urlsafe_b64decode(each), name, "sha256") for each in settings.FIELD_ENCRYPTION_KEYS
    ]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(each)) for each in made])


def _seal(claim: ClaimedKey, answer: Answer) -> str:
    text = orjson.dumps([dict(answer.headers), answer.body.decode()])
    return _ciphers(claim.row.owner, claim.key).encrypt(text).decode()


def _opened(row: KeptAnswer, key: str) -> Answer:
    assert row.status is not None
    try:
        headers, body = orjson.loads(_ciphers(row.owner, key).decrypt(row.answer.encode()))
    except InvalidToken:  # erased, or its key is gone from FIELD_ENCRYPTION_KEYS
        error = errors.error_body(410, "The answer to this call was erased. The call was carried out once.")
        return Answer(410, {errors.ERROR_CODE_HEADER: "answer_erased"}, orjson.dumps(error))
    return Answer(row.status, headers, body.encode())


def _ids(body: bytes) -> str:
    return " ".join(dict.fromkeys(found.decode() for found in _UUID.findall(body)))
