from django.apps import AppConfig


class TestStoresConfig(AppConfig):
    name = "teststores"

    def ready(self) -> None:
        from teststores import receivers  # noqa: F401  connects them
