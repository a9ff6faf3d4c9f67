"""Conditions on columns that hold a JSON list of texts."""

from typing import Any

from django.db.models import BooleanField, Func, Value


class HasItem(Func):
    """Whether the list in a column has this text. Django's `contains` would not work on SQLite."""

    arg_joiner = " ? "
    template = "%(expressions)s"
    output_field = BooleanField()

    def __init__(self, column: str, text: str) -> None:
        super().__init__(column, Value(text))

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "EXISTS (SELECT 1 FROM json_each(%(expressions)s))"
        return self.as_sql(compiler, connection, template=template, arg_joiner=") WHERE value = (", **context)
