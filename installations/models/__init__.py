from installations.models.grants import Grant
from installations.models.history import HistoryEntry
from installations.models.installations import (
    RECONSENT_REST,
    RUNS_WORKING_COPY,
    SCOPE_FIELDS,
    Installation,
    InstallationQuerySet,
    is_in_release,
    running,
    usable,
    version_id_run,
    version_run,
    with_versions,
)

__all__ = [
    "RECONSENT_REST",
    "RUNS_WORKING_COPY",
    "SCOPE_FIELDS",
    "Grant",
    "HistoryEntry",
    "Installation",
    "InstallationQuerySet",
    "is_in_release",
    "running",
    "usable",
    "version_id_run",
    "version_run",
    "with_versions",
]
