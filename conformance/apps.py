from django.apps import AppConfig


class ConformanceConfig(AppConfig):
    name = "conformance"

    def ready(self) -> None:
        from conformance import receivers  # noqa: F401  connects them
