from django.apps import AppConfig


class StoresConfig(AppConfig):
    name = "stores"

    def ready(self) -> None:
        from stores import receivers  # noqa: F401  connects them
