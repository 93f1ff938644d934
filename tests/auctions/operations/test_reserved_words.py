"""No id of an auction can be the word of an operation."""

from app.operations import CATALOGUE
from auctions.reserved_words import AUCTION_ID_PREFIX, RESERVED_WORDS


def first_words() -> set[str]:
    return {operation.path.split("/")[1] for operation in CATALOGUE if operation.path.startswith("auctions/")}


def test_the_first_word_of_every_operation_is_reserved():
    assert first_words() <= RESERVED_WORDS


def test_no_reserved_word_begins_as_an_id_does():
    assert not any(word.startswith(AUCTION_ID_PREFIX) for word in RESERVED_WORDS)
