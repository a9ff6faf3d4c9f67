"""``python -m extension_platform_store check DRIVER``: try whether a connected shop behaves as the guide asks.

The check is between the shop and the platform. It sees each call of the shop, delays it or answers it itself, and sends commands as
the platform does. The platform gets all rows, and judges them.

================= ==================================================================================
``driver``        the nine functions that you write
``door``          what the shop takes for its platform: records calls, passes them on, disturbs them
``subject``       the shop under check, as rules see it
``rules``         what a rule is, and the list of all
``run``           runs rules, and returns what became of each
``report``        lines for people, JSON and JUnit
================= ==================================================================================
"""
