"""Rows of one business lead to no other's: what a split by business rests on (docs/decisions/0084)."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import sqlglot
from django.db import connection
from django.db.models import F, Field, Model, QuerySet
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope

from config.celery import app as celery_app
from config.schedule import SCHEDULE
from stores.addresses import store_url
from tests.businesses import OF_A_BUSINESS, OF_A_PERSON, OF_ALL, OF_AN_APP, models, references, split_models
from tests.webhooks.helpers import drain
from tests.wire.pages import STORES, routes, subject_of, subjects_of
from tests.wire.visitors import Visitor
from tools.screenshots import cast as everybody
from webhooks.services.sandbox.samples import send_sample

# References from tables that would not be split to those that would.
INTO_A_BUSINESS = {
    "conformance.Run.store": "The throwaway store of a check, removed after its end.",
    "webhooks.DispatcherSlot.store": "The test store of a listener, which ends seconds after its last request.",
}
# References of which the platform in use here has no row.
NEVER_SET = {
    "accounts.Business.copy_of",  # no app is tried there; a copy lives a day, and stays with its store
    "installations.Grant.installation",
    "installations.Trial.copy",
    "stores.Quote.order",
    "stores.StoreSettings.logo",
    "stores.WaitingMail.order",
}
# What statements compare that is no row of a business.
BY_SOMETHING_ELSE = {
    "webhooks_delivery.endpoint = webhooks_delivery.endpoint": "A claim counts the leases of an endpoint, which is one server "
    "for all businesses. Each part of a split would count its own.",
}
# Columns without Django's reference, by the table that they name.
COPIES = {
    ("webhooks_delivery", "business_id"): "accounts_business",
    ("webhooks_delivery", "app_id"): "marketplace_app",
    ("webhooks_delivery", "endpoint"): "webhooks_endpoint",
    ("webhooks_webhook", "endpoint"): "webhooks_endpoint",
}


def test_each_table_has_a_kind() -> None:
    kinds = (set(OF_A_BUSINESS), OF_AN_APP, OF_A_PERSON, OF_ALL)
    assert sum(map(len, kinds)) == len(set().union(*kinds))
    assert {model._meta.label for model in models()} == set().union(*kinds)


def test_no_other_table_refers_to_a_row_of_a_business() -> None:
    found = {
        str(field)
        for model in models()
        if model._meta.label not in OF_A_BUSINESS
        for field in references(model)
        if field.related_model._meta.label in OF_A_BUSINESS  # type: ignore[union-attr]
    }
    assert found == set(INTO_A_BUSINESS)


# On the rows and statements of a platform in use


@pytest.fixture(scope="module")
def statements() -> dict[str, str]:
    """What was executed, by the statement, and where it was first seen."""
    return {}


@pytest.fixture
def used(statements: dict[str, str], settings: Any, tasks_run_at_once: None) -> Iterator[None]:
    """The cast of the screenshots. Each page is visited, what is due is sent, and each scheduled task runs once."""
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    where = "the cast"

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        statements.setdefault(sql, where)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        cast = everybody.seed()
        send_sample(app=cast.bell, developer=cast.devi, event_type="order.created")
        subjects = subjects_of(cast)
        visitors = {person: Visitor(person) for person in {each.person for each in subjects.values()}}
        store = urlsplit(store_url(cast.shop.slug))
        for route in routes():
            where, subject = str(route), subject_of(route, subjects)
            path = route.path(subject.values)
            url = f"{store.path}{path[1:]}" if route.host == STORES else path
            host = store.netloc if route.host == STORES else ""
            visitors[subject.person].ask("GET", f"{url}?{subject.query}", host=host)
        celery_app.loader.import_default_modules()
        for task in SCHEDULE:
            where = task
            if task == "webhooks.tasks.dispatch":
                drain()  # the task goes on for ever
            else:
                celery_app.tasks[task].apply(throw=True)
        yield


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.postgres
@pytest.mark.django_db
def test_no_row_and_no_statement_leads_to_another_business(used: None, statements: dict[str, str]) -> None:
    fields = [
        field
        for model in split_models()
        for field in references(model)
        if field.related_model._meta.label in OF_A_BUSINESS  # type: ignore[union-attr]
        and OF_A_BUSINESS[model._meta.label].split("__")[0] != field.name  # the way itself leads nowhere else
    ]
    assert {str(field) for field in fields if not _rows(field).exists()} == NEVER_SET
    assert [str(field) for field in fields if _crossing_rows(field).exists()] == []
    found = {pair: where for sql, where in statements.items() for pair in crossings(sql)}
    assert found.keys() == BY_SOMETHING_ELSE.keys(), found


def _rows(field: "Field[Any, Any]") -> "QuerySet[Model]":
    return field.model._base_manager.filter(**{f"{field.name}__isnull": False})


def _crossing_rows(field: "Field[Any, Any]") -> "QuerySet[Model]":
    own = OF_A_BUSINESS[field.model._meta.label]
    its = OF_A_BUSINESS[field.related_model._meta.label]  # type: ignore[union-attr]
    return _rows(field).exclude(**{own: F(f"{field.name}__{its}")})


# Statements


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("SELECT 1 FROM webhooks_delivery d JOIN webhooks_event e ON d.event_id = e.id", set()),
        (
            "SELECT 1 FROM webhooks_delivery d WHERE EXISTS (SELECT 1 FROM webhooks_event e WHERE e.business_id = d.business_id)",
            set(),
        ),
        (
            "SELECT 1 FROM webhooks_delivery d JOIN webhooks_event e ON d.id = e.id",
            {"webhooks_delivery.id = webhooks_event.id"},
        ),
        (
            "SELECT 1 FROM webhooks_delivery WHERE app_id IN (SELECT app_id FROM installations_installation) FOR UPDATE",
            {"installations_installation.app_id = webhooks_delivery.app_id"},
        ),
        (
            "WITH x AS (SELECT id, app_id a FROM webhooks_delivery UNION ALL SELECT %s, %s) UPDATE webhooks_delivery d SET due_at = NULL FROM x WHERE x.a = d.app_id",
            {"webhooks_delivery.app_id = webhooks_delivery.app_id"},
        ),
        ("SELECT 1 FROM accounts_shopticket t JOIN accounts_shopperson p ON t.person_id = p.user_id", set()),
        (
            "SELECT 1 FROM accounts_staff s JOIN accounts_shopperson p ON s.user_id = p.user_id",
            {"accounts_shopperson.user_id = accounts_staff.user_id"},
        ),
        (
            "DELETE FROM stores_review r USING stores_order o WHERE r.product_id = o.id",
            {"stores_order.id = stores_review.product_id"},
        ),
    ],
)
def test_comparison_across_businesses_is_found(statement: str, found: set[str]) -> None:
    assert crossings(statement) == found


_PLACEHOLDER = re.compile(r"%s|%\(\w+\)s|\$\d+")
_LOCK = re.compile(r" FOR (NO KEY UPDATE|UPDATE|SHARE)( OF [\w\", ]+?)?( SKIP LOCKED)?(?=\s*\)|\s*$)")
# The texts of what EXECUTE names are those of PREPARE.
_READS = re.compile(r"\s*(WITH|SELECT|UPDATE|INSERT|DELETE|\()(?!.*\bEXECUTE\b)", re.IGNORECASE | re.DOTALL)
_PREPARE = re.compile(r"^\s*PREPARE \w+ \([^)]*\) AS ")
Column = tuple[str, str]  # the table and the column


def _tables() -> dict[str, dict[str, str]]:
    """By table, each column with the table whose rows it names, or an empty text."""
    found = {}
    for model in models():
        columns = {field.column: _named(field) for field in model._meta.local_concrete_fields}
        found[model._meta.db_table] = columns
    for (table, column), named in COPIES.items():
        found[table][column] = named
    return found


def _named(field: "Field[Any, Any]") -> str:
    if field.is_relation:
        return str(field.related_model._meta.db_table)  # type: ignore[union-attr]
    return field.model._meta.db_table if field.primary_key else ""


def _names_its_row(one: Column, other: Column, tables: dict[str, dict[str, str]]) -> bool:
    """Whether one column refers to a row by the other, its key, which may refer to something else itself."""
    keys = {model._meta.db_table: model._meta.pk.column for model in models()}
    return any(
        tables[table].get(column) == target and keys.get(target) == key
        for (table, column), (target, key) in ((one, other), (other, one))
    )


def crossings(sql: str) -> set[str]:
    """What the statement compares of two tables of businesses, without naming a row of one business in both."""
    text = _PLACEHOLDER.sub("NULL", _LOCK.sub("", _PREPARE.sub("", sql))).replace("%%", "%")
    split = {model._meta.db_table for model in split_models()}
    if not (_READS.match(text) and any(table in text for table in split)):
        return set()
    tables = _tables()
    tree = sqlglot.parse_one(text, dialect="postgres")
    for node in reversed(list(tree.find_all(exp.Insert, exp.Update, exp.Delete))):
        tree = _as_select(node) if node is tree else (node.replace(_as_select(node)) and tree)
    schema = {table: dict.fromkeys(columns, "text") for table, columns in tables.items()}
    tree = qualify(
        tree, dialect="postgres", schema=schema, validate_qualify_columns=False, quote_identifiers=False
    )
    found = set()
    for scope in traverse_scope(tree):
        for pair in _compared(scope):
            if all(table in split for table, _ in pair):
                one, other = (tables[table].get(column, "") for table, column in pair)
                if _names_its_row(*pair, tables):
                    continue
                if one != other or (one and one not in split):
                    found.add(" = ".join(sorted(".".join(each) for each in pair)))
    return found


def _as_select(node: exp.Insert | exp.Update | exp.Delete) -> exp.Query:
    """What an UPDATE, DELETE or INSERT reads."""
    if isinstance(node, exp.Insert):
        query = node.expression
        if not isinstance(query, exp.Query):
            return exp.select("1")
        if node.args.get("with_"):
            query.set("with_", node.args["with_"])
        return query
    returning = node.args.get("returning")
    query = exp.Select(expressions=returning.expressions if returning else [exp.Literal.number(1)])
    read = [node.args["from_"].this] if node.args.get("from_") else node.args.get("using") or []
    joins = [join for table in read for join in table.args.pop("joins", None) or []]
    first, *others = [*read, node.this]
    query.set("from_", exp.From(this=first))
    query.set("joins", [*joins, *(exp.Join(this=table, kind="CROSS") for table in others)])
    for part in ("where", "with_"):
        query.set(part, node.args.get(part))
    return query


def _compared(scope: Scope) -> Iterator[tuple[Column, Column]]:
    """Pairs of columns of tables that have to be equal, also by IN."""
    pairs = [(equal.left, scope, equal.right, scope) for equal in scope.find_all(exp.EQ)]
    inner = {id(each.expression): each for each in scope.subquery_scopes}
    for among in scope.find_all(exp.In):
        query = among.args["query"].this if among.args.get("query") else None
        if id(query) in inner:
            pairs.append((among.this, scope, query.selects[0].unalias(), inner[id(query)]))
    for one, of_one, other, of_other in pairs:
        if isinstance(one, exp.Column) and isinstance(other, exp.Column):
            origins = (_origin(one, of_one), _origin(other, of_other))
            if origins[0] and origins[1]:
                yield origins[0], origins[1]


def _origin(column: exp.Column, scope: Scope | None) -> Column | None:
    """The table that a column comes from, through subqueries and common table expressions."""
    while scope is not None:
        source = scope.sources.get(column.table)
        if isinstance(source, exp.Table):
            return source.name, column.name
        if isinstance(source, Scope):
            while source.set_operation_scopes:
                source = source.set_operation_scopes[0]
            inner = source.expression
            for each in inner.selects if isinstance(inner, exp.Query) else ():
                value = each.unalias()
                if each.alias_or_name == column.name and isinstance(value, exp.Column):
                    return _origin(value, source)
            return None
        scope = scope.parent
    return None
