from django.apps import AppConfig


class DevelopersConfig(AppConfig):
    name = "developers"

    def ready(self) -> None:
        from developers.review.reviewers import grant_rights_after_migrations

        grant_rights_after_migrations()
