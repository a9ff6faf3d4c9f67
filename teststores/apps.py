from django.apps import AppConfig


class TestStoresConfig(AppConfig):
    name = "teststores"
