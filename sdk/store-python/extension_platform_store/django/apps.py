from django.apps import AppConfig


class StoreConfig(AppConfig):
    name = "extension_platform_store.django"
    label = "extension_platform_store"
    verbose_name = "Extension Platform"
    default_auto_field = "django.db.models.BigAutoField"
