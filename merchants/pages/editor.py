"""The page editor: a site page's text and its blocks, with settings that show while the merchant types.

The address says which block is chosen (`?block=`). Each button is a form of its own, so that all works without scripts;
nothing is kept before **Save**. **Publish** saves what is open, and shows the page to shoppers.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from common.errors import NotFound, ServiceError
from common.ids import parse_id
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, pressed_once, refusals_shown, refuse, saved
from common.web.limits import limit
from common.web.methods import GET_OR_POST, require_safe
from common.web.middleware.policy import allow_frame
from extensions.in_store.embeds_and_blocks import PlacedBlock, blocks_on, settings_in_force
from extensions.models import Definition, Placement
from extensions.schema_forms import SettingsForm, settings_form
from extensions.services import extension_states
from extensions.session_tokens import BLOCKS_A_MINUTE, storefront_tokens
from installations.models import Installation
from installations.queries import own_installation
from merchants.access import MerchantRequest, active_page, merchant_page, own_row
from merchants.pages.canvas import Shown, document
from merchants.pages.forms import BlockOption, SitePageForm, blocks_to_add, by_category
from stores.models import SitePage
from stores.services.pages import create_page, drafted, update_page

UNDO_KEY: Final = "page_undo"
ADDED, REMOVED, MOVED, SAVED = "added", "removed", "moved", "saved"
View = Callable[..., HttpResponse]
NEW_PAGE = "new"
PUBLISH = "publish"
PUBLISHED = "Saved and published. Shoppers see the page now."


def own_page(view: View) -> View:
    """For a page of one of the person's businesses; another's is a 404."""

    @merchant_page
    @wraps(view)
    def with_page(request: MerchantRequest, page_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        return view(request, _own_page(request, page_id), *args, **kwargs)

    return with_page


def _own_page(request: MerchantRequest, page_id: str) -> SitePage:
    return own_row(request, SitePage.objects.all(), page_id, "Page")


def require_texts(request: MerchantRequest) -> None:
    """Raise `NotFound` in a store whose pages are added, written and deleted elsewhere."""
    if not request.business.capabilities.page_texts:
        raise NotFound("This store’s pages are written elsewhere.")


def own_block(view: View) -> View:
    """For a block on such a page that is in force."""

    @own_page
    @wraps(view)
    def with_block(
        request: MerchantRequest, page: SitePage, placement_id: str, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        return view(request, page, _chosen(blocks_on(page), placement_id), *args, **kwargs)

    return with_block


@require_http_methods(GET_OR_POST)
@own_page
def editor(request: MerchantRequest, page: SitePage) -> HttpResponse:
    """GET: the page, and the chosen block's settings, or a block of the picker (`try`) on the page before it is added.

    POST: the page's own title, address and text, with `preview` only on the canvas, with `publish` for shoppers, too. A store whose
    texts are written elsewhere has the blocks alone, and the page itself below them where it can be framed.
    """
    if request.method == "POST":
        return _text(request, page)
    if "try" in request.GET:
        return _shown(request, page, tried=_choice(request, request.GET["try"]))
    if "block" not in request.GET:
        return _text(request, page) if request.business.capabilities.page_texts else _shown(request, page)
    try:
        chosen = _chosen(blocks_on(page), request.GET["block"])
    except NotFound:  # removed meanwhile, in another window or with its app
        return redirect("merchants:page_editor", page.pk)
    return _shown(request, page, chosen=chosen, settings=_form(request, chosen))


@require_safe
@own_page
def session_tokens(request: MerchantRequest, page: SitePage) -> JsonResponse:
    """For the blocks on the canvas, as a shopper's page gets them: `{"tokens": {slug: token}}`. Query: `app`, once for each app."""
    limit(request, "editor-session-tokens", key=str(request.user.pk), per_minute=BLOCKS_A_MINUTE)
    return JsonResponse({"tokens": storefront_tokens(page.business, request.GET.getlist("app"))})


@require_POST
@own_page
def preview_text(request: MerchantRequest, page: SitePage) -> HttpResponse:
    """The HTML of the text that is being typed, as the store would show it. Keeps nothing."""
    return HttpResponse(drafted(request.POST.get("content", "").replace("\r\n", "\n")))


@require_POST
@own_page
def add_block(request: MerchantRequest, page: SitePage) -> HttpResponse:
    """Body: `choice`, one of the picker's."""
    to = reverse("merchants:page_editor", args=[page.pk])
    choice = _choice(request, request.POST.get("choice", ""))
    return pressed_once(request, to, lambda: _added(request, page, choice))


def _added(request: MerchantRequest, page: SitePage, choice: BlockOption) -> HttpResponse:
    with refusals_shown(request):
        added = extension_states.add_block(
            page=page, installation=choice.installation, definition=choice.definition
        )
        remember(request, page, ADDED, added)
        return redirect(_address(page, added.pk))
    return redirect("merchants:page_editor", page.pk)


@require_POST
@own_page
def undo(request: MerchantRequest, page: SitePage) -> HttpResponse:
    """Undo the last change of the page's blocks, if it is this session's and can be undone."""
    try:
        block = undo_last(request, page)
    except ServiceError:
        messages.error(request, "The last change can’t be undone any more.")
        block = None
    else:
        messages.success(request, "The last change is undone.")
    return redirect(_address(page, block) if block else reverse("merchants:page_editor", args=[page.pk]))


@require_POST
@active_page
def place_block(request: MerchantRequest, installation: Installation) -> HttpResponse:
    """From the app's side: put one of its blocks on a page, and go on there. Body: `choice`, and `page`, an id or `new`: a page
    named after the block, which shoppers see at once with `publish`.
    """
    choice = _choice(request, request.POST.get("choice", ""))
    if choice.installation.pk != installation.pk:
        raise NotFound("Block not found")

    def place() -> HttpResponse:
        if request.POST.get("page") != NEW_PAGE:
            return _added(request, _own_page(request, request.POST.get("page", "")), choice)
        require_texts(request)
        is_published = PUBLISH in request.POST
        page = create_page(business=installation.business, title=choice.block.name, is_published=is_published)
        seen = "Shoppers see it now." if is_published else "Shoppers see it once you publish it."
        messages.success(request, f"Page {page.title} added. {seen}")
        return _added(request, page, choice)

    return pressed_once(request, reverse("merchants:pages"), place)


@require_http_methods(GET_OR_POST)
@own_block
def save_block(request: MerchantRequest, page: SitePage, chosen: PlacedBlock) -> HttpResponse:
    """Keep the settings, and with `publish` show the page to shoppers; a button of a list changes the form and keeps nothing."""
    data = typed(request)
    if data is None:  # a reload of the form that such a button changed
        return redirect(_address(page, chosen.id))
    form = _form(request, chosen, data)

    def save() -> HttpResponse:
        before = extension_states.save_block_settings(
            placement=Placement(pk=chosen.id), settings=form.values, before=form.kept
        )
        remember(request, page, SAVED, before)
        message = f"Saved. {chosen.block.name} uses your settings in the store."
        if PUBLISH in request.POST:
            require_texts(request)
            update_page(page=page, is_published=True)
            message = PUBLISHED
        return done(request, message, _address(page, chosen.id))

    return saved(request, form, save) or _shown(request, page, chosen=chosen, settings=form)


@require_POST
@own_block
def preview_block(request: MerchantRequest, page: SitePage, chosen: PlacedBlock) -> JsonResponse:
    """The settings that the block would get: `{settings}`, or 422 with `{errors}` by field. Keeps nothing."""
    form = _form(request, chosen, request.POST)
    if not form.is_valid():
        return JsonResponse({"errors": form.errors.get_json_data()}, status=422)
    block = chosen.block
    return JsonResponse(
        {"settings": settings_in_force(block.settings_schema, block.default_config, form.values)}
    )


@require_POST
@own_block
def move_block(request: MerchantRequest, page: SitePage, chosen: PlacedBlock) -> HttpResponse:
    """Body: `by`, -1 or 1."""
    by = -1 if request.POST.get("by") == "-1" else 1
    before = Placement.objects.filter(pk=chosen.id).first()
    extension_states.move_block(placement=_placement(page, chosen), by=by)
    if before:
        remember(request, page, MOVED, before, by=-by)
    return redirect(_address(page, chosen.id))


@require_POST
@own_block
def remove_block(request: MerchantRequest, page: SitePage, chosen: PlacedBlock) -> HttpResponse:
    before = Placement.objects.filter(pk=chosen.id).first()
    extension_states.remove_block(placement=_placement(page, chosen))
    if before:
        remember(request, page, REMOVED, before)
    messages.success(request, f"{chosen.block.name} was removed from the page.")
    return redirect("merchants:page_editor", page.pk)


def _text(request: MerchantRequest, page: SitePage) -> HttpResponse:
    require_texts(request)
    form = SitePageForm(typed(request), page=page)
    if "preview" in request.POST:
        form.full_clean()
        try:
            drafted(form.cleaned_data.get("content", ""))
        except ServiceError as error:
            refuse(form, error)
        return _shown(request, page, text=form)

    def save() -> HttpResponse:
        publishes = PUBLISH in request.POST
        if changes := form.changes | ({"is_published": True} if publishes else {}):
            update_page(page=page, **changes)
        return done(request, PUBLISHED if publishes else "Saved.", "merchants:page_editor", page.pk)

    return saved(request, form, save, conflict="slug") or _shown(request, page, text=form)


def _shown(
    request: MerchantRequest,
    page: SitePage,
    *,
    text: SitePageForm | None = None,
    chosen: PlacedBlock | None = None,
    settings: SettingsForm | None = None,
    tried: BlockOption | None = None,
) -> HttpResponse:
    if page.is_framable:
        allow_frame(request, page.url)
    blocks = blocks_on(page)
    marked = chosen.id if chosen else None
    on_canvas = blocks
    if tried:
        on_canvas, marked = [*blocks, tried.with_defaults], tried.with_defaults.id
    context = {
        "site_page": page,
        "blocks": blocks,
        "on_canvas": on_canvas,
        "marked": marked,
        "picker": by_category(blocks_to_add(request.business)),
        "chosen": chosen,
        "form": text or settings,
        "text": text,
        "settings": settings,
        "tried": tried,
        "may_undo": may_undo(request, page),
    }
    if request.business.capabilities.page_texts:
        draft = Shown(*_written(page, text), on_canvas, marked)
        context["draft"] = document(request, page, draft)
        if page.is_published:
            context["live"] = document(request, page, Shown(page.title, page.content, blocks, is_live=True))
    form: Any = text or settings
    if form is None:
        return render(request, "merchants/pages/editor.html", context)
    return form_page(request, "merchants/pages/editor.html", context, form=form)


def _written(page: SitePage, text: SitePageForm | None) -> tuple[str, str]:
    """Title and clean HTML of the page with what is in its form."""
    if text is None:
        return page.title, page.content
    title, source = (str(text[name].value() or "") for name in ("title", "content"))
    try:
        return title, drafted(source)
    except ServiceError:  # the form says why
        return title, page.content


def _form(request: MerchantRequest, chosen: PlacedBlock, data: QueryDict | None = None) -> SettingsForm:
    return settings_form(
        chosen.block.settings_schema,
        values=chosen.values,
        defaults=chosen.block.default_config,
        timezone=request.business.timezone,
        data=data,
        prefix="settings",
    )


def _chosen(blocks: list[PlacedBlock], placement_id: str) -> PlacedBlock:
    known_id = parse_id(placement_id)
    for each in blocks:
        if each.id == known_id:
            return each
    raise NotFound("Block not found")


def _choice(request: MerchantRequest, key: str) -> BlockOption:
    for choice in blocks_to_add(request.business):
        if choice.key == key:
            return choice
    raise NotFound("Block not found")


def _placement(page: SitePage, chosen: PlacedBlock) -> Placement:
    return Placement(pk=chosen.id, page_id=page.pk)


def _address(page: SitePage, placement_id: object) -> str:
    return f"{reverse('merchants:page_editor', args=[page.pk])}?block={placement_id}"


# The last change of a page's blocks, which the page editor can undo. It is kept in the session until the
# next change.


def remember(request: MerchantRequest, page: SitePage, act: str, placement: Placement, **more: Any) -> None:
    """`placement` as it was before the change; for `MOVED`, `by` is the way back."""
    request.session[UNDO_KEY] = {
        "page": str(page.pk),
        "act": act,
        "block": str(placement.pk),
        "settings": placement.settings,
        "position": placement.position,
        "installation": str(placement.installation_id),
        "definition": str(placement.definition_id),
        **more,
    }


def may_undo(request: MerchantRequest, page: SitePage) -> bool:
    return bool(request.session.get(UNDO_KEY, {}).get("page") == str(page.pk))


def undo_last(request: MerchantRequest, page: SitePage) -> str | None:
    """Undo the last change of this page. Returns the block to show, None for none.

    Raises `NotFound` if there is no such change, or its block is gone; `Conflict` if the app is.
    """
    if not may_undo(request, page):
        raise NotFound("There is no change to undo.")
    last = request.session.pop(UNDO_KEY)
    if last["act"] == REMOVED:
        return str(_put_back(request, page, last).pk)
    placement = Placement.objects.filter(pk=last["block"], page=page).first()
    if placement is None:
        raise NotFound("The block is gone.")
    if last["act"] == ADDED:
        extension_states.remove_block(placement=placement)
        return None
    if last["act"] == MOVED:
        extension_states.move_block(placement=placement, by=last["by"])
    else:
        extension_states.save_block_settings(placement=placement, settings=last["settings"])
    return str(placement.pk)


def _put_back(request: MerchantRequest, page: SitePage, last: dict[str, Any]) -> Placement:
    definition = Definition.objects.filter(pk=last["definition"]).first()
    if definition is None:
        raise NotFound("The block is gone.")
    made = extension_states.add_block(
        page=page,
        installation=own_installation([page.business], last["installation"]),
        definition=definition,
        settings=last["settings"],
    )
    extension_states.move_block(placement=made, by=last["position"] - made.position)
    return made
