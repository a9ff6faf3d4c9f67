from django.apps import AppConfig


class InstallationsConfig(AppConfig):
    name = "installations"
