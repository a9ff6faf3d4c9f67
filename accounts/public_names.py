"""Names that merchants read on the marketplace and on the consent page: of developers and of their apps."""

from typing import Final

from common.lookalikes import disguise_problem, looks_like, skeletons

PLATFORM: Final = "Extension Platform"
# As a whole name, each of these would pass for the platform's own staff.
STAFF: Final = (
    "Administrator", "App Review", "Moderator", "Platform", "Platform Security", "Platform Support",
    "Platform Team", "Security Team", "Support Team", "The Platform",
)  # fmt: skip


def check_public_name(name: str) -> None:
    """Raise `ValueError` for a name that would pass for the platform's, or that hides what it says."""
    if problem := disguise_problem(name):
        raise ValueError(problem)
    if _names_platform(name) or any(looks_like(name, reserved) for reserved in STAFF):
        raise ValueError(f"{name} is reserved for the platform itself. Choose another name.")


def _names_platform(name: str) -> bool:
    return any(own in read for own in skeletons(PLATFORM) for read in skeletons(name))
