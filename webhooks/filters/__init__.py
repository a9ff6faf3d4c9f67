"""Filters of webhooks (contract, section 19): which events of those that a webhook names it gets.

A filter is stored as the JSON text that the app sent. `fields` knows what the data of events holds, `rules` refuses a wrong filter,
and `judging` says whether an event passes. Nothing here reads or writes rows.
"""
