"""Views for web frameworks, in a few lines each: ``adapters.flask``, ``adapters.django``, ``adapters.fastapi``.

Each has one function, ``view(router, secret)``, which makes the framework's view from a ``WebhookRouter`` or a ``HookRouter``.
``secret`` is the webhook secret, or for an app on several stores a function that is given the business's ID and returns
that installation's secret, ``None`` for an unknown one. A framework is imported when its ``view`` is called.
"""
