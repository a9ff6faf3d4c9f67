"""The normal forms of addresses and numbers (contract, section 15, "Addresses and numbers of people")."""

import pytest

from common.contacts import NotAContact, email_key, kept_email_key, kept_phone_key, mailbox, phone_key
from tests.odd_contacts import BAD_EMAILS, BAD_PHONES, EMAIL, EMAILS, PHONE, PHONES

KEPT = {  # an address as a row may have it, where its mails went
    "kim@example.com\u200b": "kim@example.com",
    "\ufeffKim@Example.com": "kim@example.com",
    "kim@exam\u00adple.com": "kim@example.com",
    '"Kim"@example.com': '"kim"@example.com',
    "kim/o@example.com": "kim/o@example.com",
    "kim@i❤.example": "kim@i❤.example",
    "": "",
}


@pytest.mark.parametrize("typed", EMAILS, ids=ascii)
def test_every_spelling_of_an_address_has_one_key(typed):
    assert email_key(typed) == kept_email_key(typed) == EMAIL


@pytest.mark.parametrize("typed", BAD_EMAILS, ids=ascii)
def test_address_without_a_normal_form_refused(typed):
    with pytest.raises(NotAContact):
        email_key(typed)


@pytest.mark.parametrize("typed", PHONES, ids=ascii)
def test_every_spelling_of_a_number_has_one_key(typed):
    assert phone_key(typed) == PHONE


@pytest.mark.parametrize("typed", BAD_PHONES, ids=ascii)
def test_text_without_a_number_refused(typed):
    assert kept_phone_key(typed) == ""
    with pytest.raises(NotAContact):
        phone_key(typed)


@pytest.mark.parametrize("stored", KEPT, ids=ascii)
def test_key_of_an_address_that_is_stored_is_that_of_its_mailbox(stored):
    assert kept_email_key(stored) == KEPT[stored]


def test_other_people_have_other_keys():
    others = [
        "kim@buecher.example",
        "kim@bucher.example",
        "kim@strasse.example",
        "kim@straße.example",
        "k.im@bücher.example",
    ]
    assert len({*map(email_key, others), EMAIL}) == len(others) + 1
    assert len(set(map(phone_key, ["030 1234567", "+30 1234567", "+49 30 1234567", "49 30 1234567"]))) == 4


def test_mail_goes_to_the_host_of_the_key_and_to_the_local_part_as_typed():
    assert mailbox("Kim@Straße.example") == "Kim@xn--strae-oqa.example"
