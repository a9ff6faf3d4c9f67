"""The delivery engine: claims due deliveries in the database, sends them, and records each attempt. README.md explains when a
dispatcher claims, for how long a delivery is its own, and what happens if it dies.

`dispatcher` is the loop. It repeats five steps, each in its own module:

1. claim: `claims` leases due deliveries to this dispatcher, which `claim_selection` chooses.
2. prepare: `preparation` reads webhooks and events as they are now, and composes the requests.
3. send: `sending` hands them to the transport's thread, which has hundreds in flight at a time.
4. judge: `judging` turns each response into a result, by the schedule in `retry`; `outage` recognizes our own failures.
5. record: `recording` writes attempts and updates deliveries, in batches.

With the command `listen` of a developer, steps 3 to 5 happen elsewhere: `listeners` hands leases over, and `relaying` gives
the requests to the listener and records its answers.

Besides these, `slots` registers running dispatchers, `planning` makes PostgreSQL plan by index, `clocks` compares
this machine's time with the database's, and `backlog` and `recent` show operators what is waiting and what was sent.
"""
