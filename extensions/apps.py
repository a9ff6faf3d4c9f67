from django.apps import AppConfig


class ExtensionsConfig(AppConfig):
    name = "extensions"

    def ready(self) -> None:
        from extensions import receivers  # noqa: F401  connects them
        from extensions.hooks import handlers

        handlers.register()
