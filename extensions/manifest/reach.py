"""An app's reach: what merchants read about its manifest, and which changes widen that (contract, section 2, "Reach").

One definition is the unit: it is covered by what was approved, or it widens the reach.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from common.http.url_policy import origin_of
from extensions.enums import EmbedKind, ExtensionType
from extensions.manifest.content import Defined, definitions_in

# Each of these needs a question of its own. A block or page on a known host needs none.
_ASKED_ONE_BY_ONE: Final = (ExtensionType.HOOK, ExtensionType.EMBED)


@dataclass(frozen=True, slots=True)
class Facts:
    """What merchants read about one definition beside its developer's texts. Empty: it has no such fact.

    The sentences of `extensions.in_store.capabilities` are made from these alone, so whatever they name is part of the reach.
    `script` is a script's URL and `pin` its `integrity`, `corner` a widget's position, `host` the origin that a browser loads from:
    another scheme or port is another server.
    """

    hook_point: str = ""
    script: str = ""
    pin: str = ""
    corner: str = ""
    host: str = ""

    def stay_within(self, agreed: "Facts") -> bool:
        """Whether all but the host are as agreed. A script may get a pin that it didn't have."""
        if agreed.pin not in ("", self.pin):
            return False
        return replace(self, pin="", host="") == replace(agreed, pin="", host="")


def facts_of(defined: Defined) -> Facts:
    content = defined.content
    if defined.type == ExtensionType.HOOK:
        return Facts(hook_point=defined.key)
    if _is_script(defined):
        url = content["scriptUrl"]
        return Facts(script=url, pin=content.get("integrity", ""), host=host_of(defined))
    corner = content["position"] if defined.type == ExtensionType.EMBED else ""
    return Facts(corner=corner, host=host_of(defined))


@dataclass(frozen=True, slots=True)
class Reach:
    """The facts of each definition that is asked for by itself, by type and key; the hosts of all."""

    facts: Mapping[tuple[str, str], Facts]
    hosts: frozenset[str]

    def covers(self, defined: Defined) -> bool:
        """Whether a definition stays within this reach.

        Not covered: a new hook point, script or widget, another script URL, a pin that changed or went, another corner, another
        host. Everything else may change: a hook's path, timeout and priority, a script's position, texts, settings, and
        the paths of frames.
        """
        facts = facts_of(defined)
        if facts.host and facts.host not in self.hosts:
            return False
        if defined.type not in _ASKED_ONE_BY_ONE:
            return True
        agreed = self.facts.get((defined.type, defined.key))
        return agreed is not None and facts.stay_within(agreed)

    def as_shown(self, defined: Defined) -> dict[str, Any]:
        """Its content without a pin that was added since: that may go again without a question, so no merchant reads about it."""
        agreed = self.facts.get((defined.type, defined.key))
        if agreed is None or agreed.pin:
            return defined.content
        return {name: value for name, value in defined.content.items() if name != "integrity"}


def reach_of(all_defined: Iterable[Defined]) -> Reach:
    """The reach of the definitions together."""
    facts = {(str(each.type), each.key): facts_of(each) for each in all_defined}
    return Reach(facts, frozenset(filter(None, (each.host for each in facts.values()))))


def added_reach(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Defined]:
    """The definitions of a manifest that widen the reach of an earlier one, in the manifest's order."""
    approved = reach_of(definitions_in(before))
    return [each for each in definitions_in(after) if not approved.covers(each)]


def host_of(defined: Defined) -> str:
    """The origin that a browser loads a definition from; empty for a hook."""
    url = defined.content.get("scriptUrl") or defined.content.get("renderUrl")
    return origin_of(url) if url else ""


def _is_script(defined: Defined) -> bool:
    return defined.content.get("kind") == EmbedKind.GLOBAL_SCRIPT
