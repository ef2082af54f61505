"""English grammar in small closed lists: what the reading of pronouns goes by."""

from __future__ import annotations

AUXILIARIES = frozenset(
    {
        "does", "did", "will", "would", "can", "could", "should", "shall", "may", "might", "must", "doesn't", "didn't",
        "won't", "wouldn't", "can't", "couldn't", "shouldn't", "has", "had", "do", "don't", "to", "make", "makes",
    }
)  # fmt: skip
"""Words after which it is the subject or object of a verb."""

WH = frozenset(
    {
        "how", "how's", "what", "what's", "whats", "when", "where", "where's", "which", "who", "who's", "whom",
        "whose", "why",
    }
)  # fmt: skip
"""Question words that open a clause."""

BE = frozenset(
    {
        "'s", "are", "aren't", "be", "been", "being", "is", "isn't", "was", "wasn't", "were",
    }
)  # fmt: skip
"""Forms of to be."""

DETERMINERS = frozenset(
    {
        "a", "an", "another", "any", "each", "every", "my", "no", "our", "some", "that", "the", "these", "this",
        "those", "your",
    }
)  # fmt: skip
"""Words that begin a noun phrase."""

PREPOSITIONS = frozenset(
    {
        "about", "after", "as", "at", "before", "by", "for", "from", "in", "into", "like", "of", "on", "over",
        "than", "to", "under", "with",
    }
)  # fmt: skip
"""Words after which a noun phrase stands."""

THINKING = frozenset(
    {
        "assume", "believe", "claim", "claims", "clear", "ensure", "except", "fact", "feel", "find", "given",
        "guess", "hear", "heard", "hope", "know", "likely", "mean", "means", "now", "possible", "prove", "provided",
        "read", "said", "say", "says", "see", "show", "shows", "so", "such", "suggest", "suggests", "suppose",
        "sure", "think", "true", "understand",
    }
)  # fmt: skip
"""Words after which that begins a clause."""

BOUNDARIES = frozenset(
    {
        "!", ",", ".", ":", ";", "?", "after", "although", "and", "as", "because", "before", "but", "if", "or",
        "since", "so", "that", "then", "when", "while",
    }
)  # fmt: skip
"""Words and marks between clauses."""

EXPLETIVE_ADJECTIVES = frozenset(
    {
        "advisable", "allowed", "bad", "best", "better", "cloudy", "cold", "common", "dangerous", "dark",
        "difficult", "early", "easy", "far", "good", "hard", "healthy", "hot", "illegal", "important", "impossible",
        "late", "legal", "likely", "mandatory", "necessary", "normal", "ok", "okay", "possible", "raining",
        "required", "right", "safe", "snowing", "sunny", "time", "too", "true", "unsafe", "useful", "worth", "wrong",
    }
)  # fmt: skip
"""Adjectives of which the subject it stands for nothing."""

EXPLETIVE_TAILS = frozenset(
    {
        "for", "if", "that", "to", "when",
    }
)  # fmt: skip
"""Words that follow such an adjective."""

POSSESSIVES = frozenset(
    {
        "her", "his", "its", "their",
    }
)  # fmt: skip
"""Pronouns that stand before a noun."""

PERSONAL = frozenset(
    {
        "he", "he's", "her", "hers", "herself", "him", "himself", "his", "she", "she's",
    }
)  # fmt: skip
"""Pronouns of people."""

FIRST_PERSON = frozenset({"i", "i'm", "i'd", "i'll", "i've"})
"""Words with a capital letter that name nothing."""

VERB_ENDINGS = ("ed", "ing")
"""Endings of words that are no nouns."""

PERSON_ENDINGS = ("er", "or", "ist", "man")
"""Endings of nouns for people."""

ORDINALS = frozenset({"first", "second", "third", "fourth", "fifth"})
"""Words that choose among things, unless what they choose is named beside them."""

WEATHER = frozenset({"raining", "snowing"})
"""What it does when it stands for nothing, without a tail."""

EXPLETIVE_VERBS = frozenset({"take", "takes", "took", "cost", "costs", "seems", "turns"})
"""Verbs of which the subject it stands for nothing, if "to" follows."""

BEFORE_EXPLETIVE = BE | {"does", "will", "would"}
"""Words that stand before such an it in a question."""

RELATIVE_VERBS = frozenset({"is", "are", "was", "can", "has", "serves", "have"})
"""Verbs before which that, after a noun, belongs to the noun: "a hotel that has …"."""

CLOSING = frozenset({"?", "", ".", ",", "!"})
"""What follows that where it ends a clause, so that it is no conjunction."""

TIMES = frozenset({"year", "month", "week", "morning", "afternoon", "evening", "weekend", "days"})
"""Words with which this means now."""

AFTER_THOSE = frozenset({"who", "with", "that", "in", "of"})
"""Words that say which those are."""
