"""The parts of the client, made from the settings of a Django shop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from django.conf import settings
from django.db import connections, router, transaction
from django.db.models.signals import post_delete, post_save
from django.utils.module_loading import import_string

from extension_platform_store.client import StoreClient
from extension_platform_store.commands import Commands
from extension_platform_store.hooks import Hooks
from extension_platform_store.outbox import Outbox
from extension_platform_store.sender import Sender
from extension_platform_store.shop import Resource, Shop

from .models import Mark

SETTINGS = "EXTENSION_PLATFORM"


class DjangoOutbox(Outbox):
    """In the shop's own database: marks are committed with the transaction that runs, or not at all."""

    def atomic(self) -> AbstractContextManager[Any]:
        return transaction.atomic(using=self._using)

    def _rows(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with connections[self._using].cursor() as cursor:
            cursor.execute(_django(statement), values)
            return list(cursor.fetchall())

    def _change(self, statement: str, values: Sequence[Any]) -> int:
        with connections[self._using].cursor() as cursor:
            cursor.execute(_django(statement), values)
            return int(cursor.rowcount)

    def _change_many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        if values:
            with connections[self._using].cursor() as cursor:
                cursor.executemany(_django(statement), values)

    @property
    def _using(self) -> str:
        return str(router.db_for_write(Mark))


def _django(statement: str) -> str:
    return statement.replace("?", "%s")


def setting(name: str, default: Any = None) -> Any:
    return getattr(settings, SETTINGS).get(name, default)


@cache
def outbox() -> DjangoOutbox:
    """The outbox of the store: ``outbox().mark("products", str(product.pk))``, in the transaction of the change."""
    return DjangoOutbox(setting("STORE", "main"))


@cache
def shop() -> Shop:
    """The class that SHOP names."""
    made: Shop = import_string(setting("SHOP"))()
    return made


def client(**options: Any) -> StoreClient:
    """A new client, for one thread."""
    return StoreClient(setting("URL"), setting("KEY"), setting("STORE", "main"), **options)


@cache
def hooks() -> Hooks:
    """Apps at the checkout, for all threads of this process. Points that no app answers aren't asked."""
    return Hooks(client, points=_points, budget_ms=setting("BUDGET_MS", 2_000))


def sender() -> Sender:
    """For the process that pushes."""
    return Sender(client(), outbox(), shop(), record=setting("RECORD"))


def commands() -> Commands:
    """For the view of commands."""
    handlers: dict[str, Callable[..., Any]] = (
        import_string(setting("HANDLERS")) if setting("HANDLERS") else {}
    )
    return Commands(setting("SECRET"), outbox(), shop(), handlers)


def mark_with(models: Mapping[Any, Callable[[Any], tuple[Resource, Iterable[object]]]]) -> None:
    """Mark rows whenever an object of these models is saved or deleted; the functions return the resource and the ids of the rows.

    For the ``ready`` of an app. Bulk changes send no signals: mark those where you make them.
    """
    for model, rows_of in models.items():

        def mark(instance: Any, rows_of: Callable[..., Any] = rows_of, **_: Any) -> None:
            resource, ids = rows_of(instance)
            outbox().mark(resource, *map(str, ids))

        for signal in (post_save, post_delete):
            signal.connect(mark, sender=model, weak=False)


def business_id() -> str:
    """The store's id at the platform, which ``store.js`` needs; empty until the sender has opened the store."""
    return outbox().state("business") or ""


def hosts() -> dict[str, list[str]]:
    """The origins of apps that a Content-Security-Policy has to allow, as of some seconds ago: ``scripts, frames``."""
    return outbox().state("hosts") or {"scripts": [], "frames": []}


def _points() -> list[str] | None:
    wanted = outbox().state("wanted")
    return None if wanted is None else list(wanted["hookPoints"])
