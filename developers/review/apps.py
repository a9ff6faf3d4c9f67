from django.apps import AppConfig


class ReviewConfig(AppConfig):
    name = "developers.review"
    label = "developers_review"

    def ready(self) -> None:
        from developers.review import receivers  # noqa: F401  connects them
        from developers.review.reviewers import grant_rights_after_migrations

        grant_rights_after_migrations()
