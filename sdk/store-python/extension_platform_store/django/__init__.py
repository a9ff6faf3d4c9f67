"""The outbox in the database of a Django shop, its sender as a command, and the view for commands.

Settings::

    INSTALLED_APPS += ["extension_platform_store.django"]
    EXTENSION_PLATFORM = {
        "URL": "https://platform.example",
        "KEY": "fbsk_…",                   # of the connection
        "SECRET": "whsec_…",               # of the connection, for commands
        "STORE": "main",                   # your own id of the store
        "RECORD": {"name": "Northwind", "currency": "USD", "storefrontUrl": "https://northwind.example"},
        "SHOP": "shop.platform.OurShop",   # your class of two methods (``Shop``)
        "HANDLERS": "shop.platform.HANDLERS",  # what you do for commands (``Commands``); none without it
    }

``RECORD`` is the store's record: the sender opens the store with it, and follows its changes at each start. PostgreSQL and SQLite
are supported.

``{% load extension_platform %}{% extension_platform_script "about" %}`` is the tag of ``store.js`` for the page with this slug.
"""
