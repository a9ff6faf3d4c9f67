"""Order Bell: a small third-party app, as its developer would write it with the SDK, Flask and SQLite.

It is installed on stores by OAuth, receives their webhooks and answers their checkout. It adds a block, a script, a widget and an
admin page to them. `app` puts the parts together. The README has a line for each file.
"""
