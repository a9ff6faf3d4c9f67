"""The manifest of an app as a document: what it may hold, what it defines, how it differs from another.

Specification, "Extension manifest"; contract sections 6 and 9, "Manifest". Nothing here writes: saving is
`extensions.services.manifests`.
"""

from extensions.manifest.problems import find_problems, problems_of_manifest

__all__ = ["find_problems", "problems_of_manifest"]
