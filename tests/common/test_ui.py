"""The components and the form templates, as markup."""

import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from django import forms
from django.conf import settings
from django.forms.renderers import TemplatesSetting
from django.template import Context, Template, TemplateSyntaxError
from django.test import RequestFactory
from django.urls import NoReverseMatch, reverse, set_script_prefix, set_urlconf
from django.utils import timezone as django_timezone
from django.utils.safestring import mark_safe

from common.templatetags.ui import PICTURE_OF_ICON
from common.web.forms.fields import CheckboxLines, FormRenderer, LongChoiceField, RadioCards, SwitchInput
from common.web.pagination import PageRequest

NOON = datetime(2026, 11, 20, 15, 31, 8, 123_000, tzinfo=UTC)


def render(text: str, path: str = "/", **context: Any) -> str:
    context["request"] = RequestFactory().get(path)
    return Template("{% load ui %}" + text).render(Context(context)).strip()


class SampleForm(forms.Form):
    name = forms.CharField(max_length=10, help_text="What merchants read.")
    note = forms.CharField(required=False, max_length=300, widget=forms.Textarea)
    role = forms.ChoiceField(
        choices=[("DEVELOPER", "I build apps"), ("MERCHANT", "I run a store")],
        widget=RadioCards(about={"DEVELOPER": "You get a sandbox."}),
    )
    scopes = forms.MultipleChoiceField(
        choices=[("read_orders", "See orders")], widget=CheckboxLines(names={"read_orders": "read_orders"})
    )
    agree = forms.BooleanField(label="I have stored it")
    active = forms.BooleanField(required=False, widget=SwitchInput)


def test_moment_names_its_zone() -> None:
    expected = '<time datetime="2026-11-20T15:31:08.123Z">20 Nov 2026, 15:31:08 UTC</time>'
    assert render("{{ at|moment }}", at=NOON) == expected


def test_minute_leaves_the_seconds_out() -> None:
    expected = '<time datetime="2026-11-20T15:31:08.123Z">20 Nov 2026, 15:31 UTC</time>'
    assert render("{{ at|minute }}", at=NOON) == expected


def test_moment_follows_the_current_zone() -> None:
    with django_timezone.override(timezone(timedelta(hours=2), "EET")):
        assert "20 Nov 2026, 17:31:08 EET</time>" in render("{{ at|moment }}", at=NOON)


def test_moment_that_never_was() -> None:
    assert render('{{ at|moment:"never" }}', at=None) == "never"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"), (1, "1 second"), (90, "1 minute 30 seconds"), (7200, "2 hours"), (9725, "2 hours 42 minutes"),
        (172_800, "48 hours"), (259_200, "3 days"), (604_799.9, "7 days"),
    ],
)  # fmt: skip
def test_duration_has_two_units_at_most(seconds: float, words: str) -> None:
    assert render("{{ seconds|duration }}", seconds=seconds) == words


def test_every_picture_is_drawn_and_each_icon_of_an_empty_list_has_one() -> None:
    drawn = set(
        re.findall(r'<symbol id="(\w+)"', (settings.BASE_DIR / "static/img/pictures.svg").read_text())
    )
    assert drawn == {"basket", "bell", "envelope", "key", "lamp", "parcel", "shelf", "till"}
    assert set(PICTURE_OF_ICON.values()) | {"lamp"} == drawn
    for icon_name, picture in (("package", "shelf"), ("search", "lamp")):
        shown = render(
            "{% empty_state title='None' icon_name=icon_name %}{% endempty_state %}", icon_name=icon_name
        )
        assert f"pictures.svg#{picture}" in shown
        assert 'aria-hidden="true"' in shown


def test_what_people_wrote_is_never_markup() -> None:
    nasty = "<script>alert(1)</script>"
    page = render(
        '{% pill "ok" x %}{% notice kind="bad" title=x %}{{ x }}{% endnotice %}{% code_block x x %}'
        '{% secret_field x x "id" %}{% breadcrumb x "/" %}{% app_icon x x x %}'
        "{% empty_state title=x text=x %}{% endempty_state %}"
        '{% timeline_item kind="ok" title=x %}{{ x }}{% endtimeline_item %}{% step 1 x %}{{ x }}{% endstep %}',
        x=nasty,
    )
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 15


def test_app_icon_is_a_letter_on_the_same_colour_each_time() -> None:
    first = render('{% app_icon "loyalty" "loyalty-stars" %}')
    assert first == render('{% app_icon "loyalty" "loyalty-stars" %}')
    assert ">L<" in first
    assert 'src="/media/x"' in render('{% app_icon "Loyalty" "loyalty-stars" "/media/x" %}')


@pytest.mark.parametrize(
    ("path", "markup"),
    [("/portal/", ' aria-current="page"'), ("/portal/x/", ' aria-current="true"'), ("/", "")],
)
def test_nav_item_knows_where_we_are(path: str, markup: str) -> None:
    line = render('{% nav_item "Apps" "/portal/" "boxes" exact=False %}', path)
    assert f'<a href="/portal/"{markup}>' in line


def test_nav_group_without_items_is_left_out() -> None:
    assert render('{% nav_group "Build" %}  {% endnav_group %}') == ""
    assert "Build" in render('{% nav_group "Build" %}<li>x</li>{% endnav_group %}')


def test_pagination_keeps_the_filters() -> None:
    page = render("{% pagination page 120 %}", "/x/?status=FAILED&page=2", page=PageRequest(2, 50))
    assert "51–100 of 120" in page
    assert 'href="?status=FAILED&amp;page=1"' in page
    assert 'href="?status=FAILED&amp;page=3"' in page


def test_pagination_of_one_page_is_left_out() -> None:
    assert render("{% pagination page 50 %}", page=PageRequest(1, 50)) == ""


def test_field_ties_label_help_and_error_to_its_input() -> None:
    markup = str(SampleForm({"name": ""}))
    assert '<label for="id_name">Name</label>' in markup
    assert 'aria-describedby="id_name_helptext id_name_error"' in markup
    assert 'id="id_name_helptext"' in markup
    assert 'id="id_name_error"' in markup
    assert 'aria-invalid="true"' in markup


def test_only_what_may_stay_empty_is_marked() -> None:
    markup = str(SampleForm())
    assert markup.count("(optional)") == 1
    assert "Note <span" in markup


def test_choices_that_nobody_must_press_are_not_marked() -> None:
    class Choices(forms.Form):
        kind = forms.ChoiceField(choices=[("a", "A")], widget=forms.RadioSelect, required=False)
        mails = forms.MultipleChoiceField(
            choices=[("a", "A")], widget=forms.CheckboxSelectMultiple, required=False
        )
        is_on = forms.BooleanField(required=False)

    assert "(optional)" not in str(Choices())


def test_choices_carry_their_sentence_and_name() -> None:
    markup = " ".join(str(SampleForm()).split())
    assert "You get a sandbox." in markup
    assert '<span class="name">read_orders</span>' in markup
    assert 'role="switch"' in markup


def test_error_summary_leads_to_each_field_in_the_words_beside_it() -> None:
    markup = str(SampleForm({"name": "far too long a name"}))
    summary, fields = markup.split("</div>", 1)
    said = {
        "id_name": "Ensure this value has at most 10 characters (it has 19).",
        "id_role_0": "Role is required.",
        "id_scopes_0": "Choose at least one of “Scopes”.",
        "id_agree": "Select “I have stored it”.",
    }
    for ident, sentence in said.items():
        assert f'<a href="#{ident}">{sentence}</a>' in summary
        assert f'id="{ident}"' in fields
        assert f"<span>{sentence}</span>" in fields


def test_error_summary_of_a_good_form_is_left_out() -> None:
    assert "There is a problem" not in str(SampleForm())


def test_select_has_its_options_in_groups_escaped_and_chosen() -> None:
    """Our template of a select writes them; Django's includes one for each."""
    field = forms.ChoiceField(
        choices=[("", "Any <b>"), ("Fruit", [("1", "Apple & pear"), ("2", '"Quince"')])], required=False
    )

    class Basket(forms.Form):
        fruit = field

    written = str(Basket({"fruit": "1"})["fruit"])
    assert '<option value="">Any &lt;b&gt;</option>' in written
    assert '<optgroup label="Fruit"><option value="1" selected>Apple &amp; pear</option>' in written
    assert '<option value="2">&quot;Quince&quot;</option></optgroup></select>' in written


PLACES = [("", "Any"), ("a", "A & B"), ("<b>", "<b>"), ("Group <1>", [("c", "C"), ("d", '"D"')])]


@pytest.mark.parametrize("chosen", ["", "a", "<b>", "d", "elsewhere", None])
def test_a_long_drop_down_looks_like_djangos(chosen: str | None) -> None:
    class Both(forms.Form):
        ours = LongChoiceField(choices=PLACES, required=False)
        own = forms.ChoiceField(choices=PLACES, required=False)

    form = Both(initial={"ours": chosen, "own": chosen})
    ours = str(form["ours"]).replace("ours", "own")
    assert "".join(ours.split()) == "".join(str(form["own"]).split())
    assert ours.count("<option") == 5


def test_a_typed_choice_is_escaped_beside_a_safe_one_like_it() -> None:
    for label in (mark_safe("<b>"), "<b>"):
        field = LongChoiceField(choices=[("a", label)])
        assert "&lt;b&gt;" in str(type("Sample", (forms.Form,), {"place": field})()["place"])


def test_a_typed_word_of_a_pill_is_escaped_beside_a_safe_one_like_it() -> None:
    assert "<b>" in render("{% pill 'ok' word %}", word=mark_safe("<b>"))
    assert "<b>" not in render("{% pill 'ok' word %}", word="<b>")


def test_a_long_drop_down_takes_what_its_form_offers() -> None:
    class Sample(forms.Form):
        place = LongChoiceField(choices=lambda: (("a", "A"), ("Group", (("b", "B"),))))

    assert Sample({"place": "b"}).is_valid()
    assert not Sample({"place": "c"}).is_valid()
    form, other = Sample({"place": "c"}), Sample()
    form.fields["place"].choices = [("c", "C")]  # type: ignore[attr-defined]
    assert form.is_valid()
    assert "C</option>" in str(form["place"])
    assert "C</option>" not in str(other["place"])


class Widgets(forms.Form):
    text = forms.CharField(max_length=9, help_text="<b>", widget=forms.TextInput({"data-x": '"&'}))
    number = forms.IntegerField(min_value=0, required=False)
    email = forms.EmailField()
    url = forms.URLField(assume_scheme="https")
    password = forms.CharField(widget=forms.PasswordInput)
    hidden = forms.CharField(widget=forms.HiddenInput)
    day = forms.DateField(disabled=True)
    agree = forms.BooleanField()
    file = forms.FileField(widget=forms.FileInput)
    lines = forms.ChoiceField(choices=[("a", "<A>"), ("b", "B")], widget=forms.RadioSelect)
    boxes = forms.MultipleChoiceField(choices=[("a", "<A>"), ("b", "B")], widget=forms.CheckboxSelectMultiple)


@pytest.mark.parametrize(
    "data",
    [None, {}, {"text": '"<b>', "number": "0", "hidden": "x", "agree": "on", "lines": "b", "boxes": ["a"]}],
)
def test_fields_look_like_djangos(data: dict[str, Any] | None) -> None:
    ours, djangos = (
        Widgets(data, initial={"day": date(2026, 11, 20), "text": mark_safe("&amp;")}, renderer=renderer)
        for renderer in (FormRenderer(), TemplatesSetting())
    )
    for name in Widgets.base_fields:
        assert str(ours[name]) == str(djangos[name])
    for name in ("lines", "boxes"):
        shown = [str(option.tag()) for option in ours[name]]
        assert shown == [str(option.tag()) for option in djangos[name]]


def test_url_is_kept_for_each_host_and_name() -> None:
    link = "{% url name %}{% url 'nowhere' as none %}[{{ none }}]"
    assert render(link, name="home") == "/[]"
    assert render("{% url 'merchants:orders' %}", name="home") == "/merchant/orders/"
    try:
        set_urlconf("config.store_urls")
        assert render("{% url 'storefront:product' slug %}", slug="tea") == "/products/tea/"
        with pytest.raises(NoReverseMatch):
            render("{% url 'merchants:orders' %}")
        set_urlconf(None)
        set_script_prefix("/below/")
        assert render(link, name="home") == "/below/[]"
    finally:
        set_urlconf(None)
        set_script_prefix("/")


def test_url_with_ids_is_found_once_for_all() -> None:
    first, second = UUID(int=7), UUID(int=8)
    for ids in ((first, second), (second, first), (str(first), second)):
        expected = reverse("merchants:admin_page", args=ids)
        assert render("{% url 'merchants:admin_page' one other %}", one=ids[0], other=ids[1]) == expected


def test_rows_are_escaped_and_written_as_they_stand() -> None:
    shown = [{"name": "<b>{other}", "mark": mark_safe("<i>")}, {"name": "b", "mark": 1}]
    text = "{% load rows %}{% rows shown %}<li>{name}{mark}</li>{% endrows %}"
    assert render(text, shown=shown) == "<li>&lt;b&gt;{other}<i></li><li>b1</li>"
    assert render(text, shown=[]) == ""


@pytest.mark.parametrize("inside", ["{{ each.name }}", "{% if shown %}{% endif %}"])
def test_rows_have_nothing_but_names_of_values(inside: str) -> None:
    with pytest.raises(TemplateSyntaxError):
        render(f"{{% load rows %}}{{% rows shown %}}{inside}{{% endrows %}}")
