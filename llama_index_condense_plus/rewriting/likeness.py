"""What speaks for a phrase of the last question as the counterpart of what a follow-up names: the weights of all signs.

The signs of a phrase are added up; the phrase with the largest sum of at least ``ENOUGH`` is the counterpart. The
weights were set by hand on written conversations, whose right rewrites the tests keep.
"""

from __future__ import annotations

from dataclasses import dataclass

ENOUGH = 1.0
"""A phrase with less is no counterpart."""
Scored = tuple[float, int, int]
"""The sum of a span's signs, where it starts and ends."""


@dataclass(frozen=True, slots=True)
class ChineseSigns:
    """Signs of a Chinese phrase."""

    thing: float = 1.0
    """It is no bare attribute (价格)."""
    early: float = 0.3
    """Divided by its number in the question: what a question is about comes first."""
    named_alike: float = 0.5
    """Both look like names."""
    tagged_alike: float = 0.7
    """Its last word and the new words have the same part of speech."""
    script_alike: float = 0.3
    """Both have Latin letters or digits, or neither."""
    other_case: float = -1.0
    """The new words are a small Latin word, it is none."""
    shared_end: float = 1.5
    """For each of up to two characters that both end with (儿童票, 学生票)."""
    shared_start: float = 3.0
    """Both begin with the same two characters (红米Note 13, 红米K70)."""
    same_class: float = 1.0
    """Both are persons, or both ailments."""
    other_class: float = -1.0
    """It is a person or an ailment, the new words are none."""
    attribute: float = 2.0
    """Both are what is asked of something (营收, 净利润); a shared end adds one."""
    name_in_it: float = 2.6
    """A place, person, institution or Latin word in it stands where the new name would (北京 of 北京图书馆)."""
    head_alike: float = 1.5
    """Its first words end as the new words do (上海站 of 上海站售票厅); so does each shared character, up to two."""
    start_alike: float = 2.5
    """A word of it has the length of the new words and begins as they do (制冷 of 制冷功率, 制热)."""
    inner_end_alike: float = 3.5
    """A word inside it has the length and the end of the new words (单打 of 单打场地), or both are verbs."""
    container: float = -1.0
    """It is where something is (Python里)."""
    object: float = 3.0
    """The noun in a word of verb and noun (糖 of 放糖), both a single character."""
    latin_head: float = 2.0
    """It begins with a Latin word, and the new words are Latin."""
    end_alike: float = 0.5
    """Its last word alone has the length and the end of the new words (双打 of 羽毛球双打, 单打)."""
    version: float = 4.0
    """Both end in a word for a version (四驱版, 两驱版)."""
    quantity: float = 5.0
    """Both are a number of one unit, after the same words."""
    time: float = 5.0
    """Both say when."""
    word: float = 1.0
    """A word outside every phrase of the same length and kind; twice more if it begins or ends alike, or qualifies."""


@dataclass(frozen=True, slots=True)
class EnglishSigns:
    """Signs of an English phrase."""

    thing: float = 1.0
    """It is a phrase of the question."""
    late: float = 0.1
    """Times its number in the question: objects and places come last."""
    number_alike: float = 0.5
    """Both are plural, or both singular."""
    measured: float = -1.0
    """It is what "how much" asks the amount of."""
    placed: float = -0.2
    """It says where, the new words do not, and nothing but "and" leads to them."""
    adverbial: float = -1.0
    """It says how or when ("during pregnancy"), the new words do not."""
    counted: float = -0.5
    """It has "a", the new words have no article, and nothing but "and" leads to them."""
    other_article: float = -0.3
    """It has "the", the new words have "a"."""
    preposition: float = 2.0
    """The same preposition stands before both."""
    definite: float = 1.0
    """Both have "the"."""
    indefinite: float = 1.0
    """Both have "a" or "an"."""
    same_word: float = 4.0
    """Both have several words and begin or end with the same one (north gate, south gate)."""
    names: float = 2.0
    """Both are names; the next two add to it."""
    sure_names: float = 1.0
    """They have as many words, and the new words are certainly a name."""
    maybe_names: float = 0.5
    """They have as many words, and a capital may be the sentence's."""
    name_for_words: float = -2.0
    """It is a name, and the new words are none."""
    words_for_name: float = -1.0
    """The new words are a name, and it is none."""
    other_aspect: float = -2.0
    """"The deposit?": an article of its own asks something else."""
    attribute: float = 2.0
    """Both are what is asked of something (revenue, profit)."""
    attribute_for_thing: float = -2.0
    """It is what is asked of something, the new words are none."""
    unled: float = -0.4
    """Nothing but "and" leads to the new words, which makes a counterpart less sure than "what about" does."""
    adjective: float = 3.0
    """It qualifies a phrase, as "a yearly one" does."""
    qualifier: float = 2.0
    """The words before a phrase's last one, for "a yearly one"; ``indefinite`` is added."""


CHINESE, ENGLISH = ChineseSigns(), EnglishSigns()
