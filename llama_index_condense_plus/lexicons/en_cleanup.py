"""English words that a search query can do without, and the longer phrases that only look like them."""

from __future__ import annotations

from itertools import product

_SAID = (
    "mentioned", "described", "discussed", "talked about", "referred to", "recommended", "suggested", "listed",
    "explained",
    "told me about", "spoke about", "brought up", "said", "spoke of", "named",
)  # fmt: skip
_BEFORE = (
    "just",
    "previously",
    "already",
    "earlier",
    "have just",
    "had just",
    "have already",
    "'ve just",
    "have previously",
)
_AFTER = (
    "earlier",
    "before",
    "above",
    "previously",
    "just now",
    "a moment ago",
    "a minute ago",
    "last time",
    "so far",
    "in your last answer",
    "in your previous answer",
)

_PHRASES = frozenset(
    {
        "previously mentioned", "previously discussed", "previously described", "earlier mentioned", "aforementioned",
        "afore-mentioned",
        "above-mentioned", "above mentioned", "mentioned above", "mentioned earlier", "mentioned before",
        "mentioned previously",
        "described above", "described earlier", "discussed above", "discussed earlier", "discussed previously",
        "listed above", "just mentioned",
        "just described", "as mentioned", "as mentioned above", "as mentioned earlier", "as mentioned before",
        "as discussed",
        "as discussed earlier", "as discussed above", "as described above", "as you said", "as you mentioned",
        "as you said earlier",
        "as you said before", "as we discussed", "as i said", "as i said before", "as i mentioned",
        "as i mentioned before",
        "as you mentioned earlier", "like you said", "like i said", "just now", "by the way",
        "going back to what you said",
        "based on our conversation", "based on the conversation", "based on our discussion",
        "based on the previous conversation",
        "in our conversation", "in our discussion", "in the previous conversation", "in this conversation",
        "from our conversation",
        "based on the chat history", "given the conversation", "in your last answer", "in your previous answer",
        "in your last reply",
        "from the conversation above", "in light of our conversation",
    }
)  # fmt: skip


def connectives() -> frozenset[str]:
    """Return time connectives and back references that add nothing to a query; many, so made when asked for."""
    combined = frozenset(
        " ".join(filter(None, (that, who, before, said, after))).replace(" '", "'")
        for that, who, before, said, after in product(
            ("", "that", "which"), ("you", "we", "i"), ("", *_BEFORE), _SAID, ("", *_AFTER)
        )
        if that or before or after or said not in {"said", "named"}
    )
    return combined | _PHRASES


CONNECTIVE_TRAPS = frozenset(
    {
        "what you said", "what you mentioned", "everything you mentioned", "just now released", "when you mentioned",
        "have you mentioned", "can i ask for", "please everyone", "hello world", "do you know how to",
    }
)  # fmt: skip
"""Longer phrases that contain a connective and carry meaning."""

PADDING = frozenset(
    {
        "please", "pls", "plz", "kindly", "thanks", "thank you", "thank you very much", "thanks a lot", "many thanks",
        "thanks in advance", "thank you in advance",
        "could you please tell me", "could you tell me", "can you tell me", "can you please tell me",
        "would you tell me", "will you tell me",
        "could you please explain", "please tell me", "tell me please", "i would like to know", "i'd like to know",
        "i want to know", "i wanna know",
        "i was wondering", "i am wondering", "i'm wondering", "do you know", "would you mind telling me", "may i ask",
        "can i ask", "could you let me know",
        "can you let me know", "please let me know", "let me know", "if you don't mind", "if you do not mind",
        "if possible", "excuse me", "sorry to bother you",
        "hi", "hello", "hey", "hi there", "hello there", "cheers", "appreciate it", "much appreciated",
    }
)  # fmt: skip
"""Polite padding, taken out at the beginning and at the end only."""

NEGATIONS = frozenset(
    {
        "not", "no", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "cannot", "can't",
        "cant", "don't", "dont", "doesn't",
        "doesnt", "didn't", "didnt", "won't", "wont", "isn't", "isnt", "aren't", "arent", "wasn't", "wasnt",
        "weren't", "werent", "wouldn't", "wouldnt",
        "couldn't", "couldnt", "shouldn't", "shouldnt", "haven't", "havent", "hasn't", "hasnt", "hadn't", "hadnt",
        "mustn't", "ain't", "needn't",
        "except", "excluding", "exclude", "unless", "non", "unable", "instead of", "other than", "rather than",
    }
)  # fmt: skip
"""Words that negate or exclude."""

QUESTION_WORDS = frozenset(
    {
        "what", "what's", "whats", "who", "who's", "whose", "whom", "which", "when", "where", "where's", "why", "how",
        "how's", "is", "are", "was", "were", "do", "does",
        "did", "can", "could", "will", "would", "should", "shall", "may", "might", "has", "have", "had", "am",
        "isn't", "aren't", "don't", "doesn't", "didn't",
        "can't", "won't", "wasn't", "weren't", "couldn't", "shouldn't", "wouldn't", "haven't", "hasn't",
    }
)  # fmt: skip
"""Words that make a question."""
