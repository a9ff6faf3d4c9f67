"""The check of translations finds what shoppers would notice."""

import pytest
from babel.messages.catalog import Message

from tools import catalogs
from tools.pseudo_language import pseudo

FIRM, NARROW = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"


def problems(
    source: str | tuple[str, ...], text: str | tuple[str, ...], language: str = "de", **fields: object
) -> str:
    return "; ".join(catalogs.problems_of(Message(source, text, **fields), language))


@pytest.mark.parametrize(
    ("source", "text", "language", "problem"),
    [
        ("Cart", "", "de", "isn't translated"),
        (("%(n)d item", "%(n)d items"), ("%(n)d Artikel", ""), "de", "isn't translated"),
        ("Order %(number)s", "Bestellung", "de", "other placeholders"),
        ("Order %(number)s", "Bestellung %(nummer)s", "de", "other placeholders"),
        ("{time} left", "noch {zeit}", "de", "other placeholders"),
        ("<b>Paid</b>", "Bezahlt", "de", "other placeholders or tags"),
        ("Results for “%(word)s”", 'Ergebnisse für "%(word)s"', "de", "straight quote"),
        ("It isn't", "Ce n'est pas", "fr", "straight quote"),
        ("Working…", "Moment...", "de", "three dots"),
        ("Delivery?", "Livraison ?", "fr", "no-break space"),
        ("Delivery?", "Livraison?", "fr", "no-break space"),
        ("“%(word)s”", "« %(word)s »", "fr", "no-break space"),
    ],
)
def test_wrong_translation_is_found(source: str, text: str, language: str, problem: str) -> None:
    assert problem in problems(source, text, language)


@pytest.mark.parametrize(
    ("source", "text", "language"),
    [
        ("Delivery?", f"Livraison{NARROW}?", "fr"),
        ("“%(word)s”", f"«{FIRM}%(word)s{FIRM}»", "fr"),
        ("Pickup: %(place)s", f"Retrait{FIRM}: %(place)s", "fr"),
        (("%(n)d item", "%(n)d items"), ("%(n)d Artikel", "%(n)d Artikel"), "de"),
        ('<a href="">Check</a>', '<a href="">Prüfen</a>', "de"),
    ],
)
def test_good_translation_is_let_through(source: str, text: str, language: str) -> None:
    assert problems(source, text, language) == ""


def test_fuzzy_translation_is_found() -> None:
    assert problems("Cart", "Warenkorb", flags=["fuzzy"]) == "is fuzzy"


@pytest.mark.long
def test_stale_and_uncompiled_catalogs_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(catalogs.check()) == []
    found = catalogs.extracted()
    found.add("A text of today")
    monkeypatch.setattr(catalogs, "extracted", lambda: found)
    told = list(catalogs.check())
    assert len(told) == len(catalogs.LANGUAGES) + 2
    assert all("--write" in each for each in told)


@pytest.mark.long
def test_texts_of_templates_and_code_are_found() -> None:
    texts = {message.id for message in catalogs.extracted()}
    assert {"Add to cart", "Enter your name.", "See your order", "You have paid %(amount)s."} <= texts
    assert "Marketplace" not in texts


def test_pseudo_language_keeps_what_code_needs_and_is_longer() -> None:
    text = pseudo('Pay <a href="/x">%(amount)s</a> before {time}')
    assert '<a href="/x">%(amount)s</a>' in text
    assert "{time}" in text
    assert "Pay" not in text
    plain = "Enter an e-mail address or a phone number."
    assert 1.25 < len(pseudo(plain)) / len(plain) < 1.6
    assert pseudo("%(first)s–%(last)s") == "%(first)s–%(last)s"
