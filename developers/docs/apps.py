from django.apps import AppConfig


class DocsConfig(AppConfig):
    name = "developers.docs"
    label = "developers_docs"
