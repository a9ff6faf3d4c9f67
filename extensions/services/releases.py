"""What runs in stores: approved manifests, and each definition as stores run it that agreed to a version.

A store runs a definition in the first of these forms that stays within the reach it agreed to:

1. as it was saved last, if that stays within the reach of the version that the store runs, too;
2. as it was approved with that version;
3. as it was when the store agreed.

A definition that left the manifest, or that the version was approved without, runs nowhere. The rows are few: one for each
definition and version in use, whatever the number of stores; twice while a release is open, since stores run two versions then.

A save counts neither for 1 nor for what left the manifest if the app's saves wait for its next version (`App.live_saves`), or if it
was made before a version was taken back: then stores run the manifest that was approved with their version.

Where the data of a store goes follows the version that runs, at once. A store is only asked about it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from extensions.enums import ExtensionType
from extensions.manifest.content import Defined, definitions_in
from extensions.manifest.reach import Reach, reach_of
from extensions.models import ApprovedManifest, Definition, LiveDefinition, ReachRequest
from extensions.queries import manifest_document, saves_run
from installations.models import Installation
from marketplace.data_terms import DataTerms
from marketplace.models import App, AppVersion

Content = dict[str, Any]


def keep_approved(*, version: AppVersion) -> None:
    """Freeze the manifest with a version, in the transaction of its approval."""
    document = manifest_document(version.app)
    ApprovedManifest.objects.update_or_create(version=version, defaults={"document": document})
    update_live(version.app)


def update_live(app: App) -> None:
    """Write what runs and what merchants are asked for. The app's row is locked; it has no effect before an approval."""
    if app.approved_version_id is None:
        return
    run = _run(app)
    in_use = list(_in_use(app))
    approved = _approved_manifests(in_use)
    live: list[LiveDefinition] = []
    requests = list(_asked_about_data(run, in_use))
    for definition in Definition.objects.filter(app=app):
        saves_count = saves_run(app, definition.updated_at)
        for (in_release, current), (version_id, terms) in product(run.items(), approved.items()):
            forms = _forms(definition, approved[current], terms, saves_count=saves_count)
            row = {"definition": definition, "version_id": version_id, "in_release": in_release}
            if forms.live is not None:
                live.append(LiveDefinition(**row, content=forms.live))
            if forms.asked is not None:
                requests.append(ReachRequest(**row, content=forms.asked))
    LiveDefinition.objects.filter(version__app=app).delete()
    ReachRequest.objects.filter(version__app=app).delete()
    LiveDefinition.objects.bulk_create(live)
    ReachRequest.objects.bulk_create(requests)


def versions_kept(app: App) -> set[tuple[UUID, bool]]:
    """The versions that stores keep as what they agreed to, each with whether an open release has reached these stores: of what they were
    asked for more, or of what said where their data goes while the version that they run doesn't.
    """
    kept = set(ReachRequest.objects.filter(version__app=app).values_list("version_id", "in_release"))
    said = AppVersion.objects.filter(app=app).values_list(
        "pk", "data_countries", "data_retention_days", "data_processors"
    )
    terms: dict[Any, DataTerms] = {pk: DataTerms(*fields) for pk, *fields in said}
    return kept | {
        (agreed, in_release)
        for (in_release, current), agreed in product(_run(app).items(), terms)
        if terms[current].is_silent_beside(terms[agreed])
    }


def data_agreed_to(app: App) -> list[DataTerms]:
    """What stores agreed to about their data: with the approved version, or with one before that said what it doesn't."""
    assert app.approved_version is not None, "an app with versions has an approved one"
    current = app.approved_version.data_terms
    kept = [each.data_terms for each in _in_use(app) if current.is_silent_beside(each.data_terms)]
    return [current, *kept]


def _run(app: App) -> dict[bool, UUID | None]:
    """The version that stores run, by whether an open release has reached them."""
    if app.rolling_version_id is None:
        return {False: app.approved_version_id}
    return {False: app.earlier_version_id, True: app.rolling_version_id}


def _in_use(app: App) -> QuerySet[AppVersion]:
    """The versions that stores run, and those that active installations agreed to."""
    agreed = Installation.objects.active().filter(agreed_version=OuterRef("pk"))
    is_used = Q(Exists(agreed)) | Q(pk__in=_run(app).values())
    if _is_going_back(app):
        returning = Installation.objects.active().filter(app=app, earlier_agreed_version=OuterRef("pk"))
        is_used |= Q(Exists(returning))
    return AppVersion.objects.filter(is_used, app=app)


def _asked_about_data(run: Mapping[bool, Any], in_use: Sequence[AppVersion]) -> Iterator[ReachRequest]:
    """What stores are asked about where their data goes: the terms of the version that they run."""
    terms: dict[Any, DataTerms] = {version.pk: version.data_terms for version in in_use}
    for (in_release, current), agreed in product(run.items(), terms):
        if terms[current].asks_beyond(terms[agreed]):
            content = asdict(terms[current])
            yield ReachRequest(version_id=agreed, in_release=in_release, content=content)


def _is_going_back(app: App) -> bool:
    """Whether stores follow a version that came before one that was taken back: they agree again to what they had agreed to before."""
    version = app.approved_version
    return app.taken_back_at is not None and version is not None and version.followed_at is None


@dataclass(frozen=True, slots=True)
class _Approved:
    """A manifest as it was approved."""

    contents: Mapping[tuple[str, str], Content]
    reach: Reach

    def covers(self, definition: Definition, content: Content) -> bool:
        return self.reach.covers(_defined(definition, content))

    def content_of(self, definition: Definition) -> Content | None:
        return self.contents.get((definition.type, definition.key))


@dataclass(frozen=True, slots=True)
class _Forms:
    """`live` runs in a store; `asked` would run after its merchant's yes. None: nothing."""

    live: Content | None
    asked: Content | None


def _approved_manifests(versions: Sequence[AppVersion]) -> dict[Any, _Approved]:
    """By version id. A version without a kept manifest was approved with an empty one."""
    kept = dict(ApprovedManifest.objects.filter(version__in=versions).values_list("version_id", "document"))
    return {version.pk: _approved(kept.get(version.pk, {})) for version in versions}


def _approved(document: Mapping[str, Any]) -> _Approved:
    all_defined = list(definitions_in(document))
    return _Approved({(each.type, each.key): each.content for each in all_defined}, reach_of(all_defined))


def _forms(definition: Definition, current: _Approved, agreed: _Approved, *, saves_count: bool) -> _Forms:
    approved = current.content_of(definition)
    saved = definition.content
    if saves_count and not definition.is_active:
        return _Forms(None, None)
    newest = saved if saves_count and current.covers(definition, saved) else approved
    if newest is None:
        return _Forms(None, None)
    candidates = (newest, approved, agreed.content_of(definition))
    live = next((each for each in candidates if each is not None and agreed.covers(definition, each)), None)
    asked = (
        None if agreed.covers(definition, newest) else current.reach.as_shown(_defined(definition, newest))
    )
    return _Forms(live, asked)


def _defined(definition: Definition, content: Content) -> Defined:
    return Defined(ExtensionType(definition.type), definition.key, definition.position, content)
