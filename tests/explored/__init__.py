"""A search over the schedules of the delivery engine (docs/faults.md, "Explored schedules").

Two real dispatchers execute their real statements in sessions of their own, under replaced time and in lock-step (`lockstep`). At
each statement, answer and start a schedule may have something unusual happen (`schedules`) in a small scene (`scenes`). A run
(`runs`) is held to `rules`; `explorer` replaces time and makes the runs, and `search` makes schedules and shrinks one that breaks a rule.

Its blind spot is below the statements: sockets, TLS, name look-ups, the memory that an answer takes, and real processes and
disks. tests/faults has these.
"""
