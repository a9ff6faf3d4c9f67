"""Times as the text of the APIs, written by the database.

A list of 50 products has 100 times. To parse and format them again costs a web process a fifth of the request.
"""

from typing import Any

from django.db.models import Func, TextField


class IsoText(Func):
    """What `common.times.iso` makes of a column of times."""

    template = """to_char(%(expressions)s AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""
    output_field = TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # A text without decimals for a whole second, with six for any other.
        template = "replace(substr(%(expressions)s || '.000', 1, 23), ' ', 'T') || 'Z'"
        return self.as_sql(compiler, connection, template=template, **context)
