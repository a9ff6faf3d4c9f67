from installations.models.grants import Grant
from installations.models.history import HistoryEntry
from installations.models.installations import (
    RECONSENT_REST,
    RUNS_WORKING_COPY,
    SCOPE_FIELDS,
    Installation,
    InstallationQuerySet,
    holds,
    is_in_release,
    running,
    with_versions,
)
from installations.models.signing_keys import SigningKey
from installations.models.trials import Trial
