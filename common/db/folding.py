"""Searches that fold case and compose letters, on every database (contract, section 15, "Text as typed").

`name__finds="хлеб"` is for what people search; `icontains` knows only ASCII on SQLite, and no composed letters anywhere.
"""

from typing import Any, Final
from unicodedata import normalize

from django.db.backends.signals import connection_created
from django.db.models import BooleanField, CharField, Func, TextField, Value
from django.db.models.lookups import Contains

# PostgreSQL's nearest to a case folding: final sigma needs the capitals, the capital sharp s the small letters. The indexes
# for searches have the same expression.
POSTGRESQL: Final = "REPLACE(LOWER(UPPER(NORMALIZE({}))), 'ß', 'ss')"
SQLITE: Final = "folded({})"
# The same where a text is ASCII, at a tenth of the cost. No index has it.
ASCII: Final = 'CASE WHEN octet_length({0}) = char_length({0}) THEN LOWER({0} COLLATE "C") ELSE {1} END'


@CharField.register_lookup
@TextField.register_lookup
class Finds(Contains):
    """Whether the column contains the text, in whatever case, its letters composed or not."""

    lookup_name = "finds"

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        form = POSTGRESQL if connection.vendor == "postgresql" else SQLITE
        column, column_values = self.process_lhs(compiler, connection)
        text, text_values = self.process_rhs(compiler, connection)
        sql = rf"{form.format(column)} LIKE {form.format(text)} ESCAPE '\'"
        return sql, (*column_values, *text_values)


class FindsAll(Func):
    """Whether a text contains all the words, as `finds` has it. For rows that are read one by one, since most of them do."""

    output_field = BooleanField()

    def __init__(self, text: Any, *words: str) -> None:
        super().__init__(text, *map(Value, words))

    def as_sql(self, compiler: Any, connection: Any, **_: Any) -> Any:  # type: ignore[override]
        expressions: Any = self.source_expressions
        text, *words = expressions
        column, values = compiler.compile(text)
        patterns = [f"%{connection.ops.prep_for_like_query(each.value)}%" for each in words]
        if connection.vendor == "postgresql":
            folded = ", ".join([POSTGRESQL.format("%s")] * len(words))
            form = ASCII.format("text", POSTGRESQL.format("text"))
            # The offset keeps the text from being put together four times.
            once = (
                f"(SELECT {form} LIKE ALL (ARRAY[{folded}]) FROM (SELECT {column} AS text OFFSET 0) AS once)"  # noqa: S608  expressions of ours
            )
            return once, [*patterns, *values]
        one = rf"{SQLITE.format(column)} LIKE {SQLITE.format('%s')} ESCAPE '\'"
        return " AND ".join([one] * len(words)), [part for each in patterns for part in (*values, each)]


def teach_sqlite(connection: Any, **_: Any) -> None:
    if connection.vendor == "sqlite":
        connection.connection.create_function(
            "folded", 1, lambda text: None if text is None else folded(str(text)), deterministic=True
        )


def register() -> None:
    connection_created.connect(teach_sqlite, dispatch_uid="folding")


def folded(text: str) -> str:
    """Unicode's canonical caseless form, by its default case folding: what reads the same is equal."""
    return normalize("NFC", normalize("NFC", text).casefold())
