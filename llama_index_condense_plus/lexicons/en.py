"""English: the words that make a question lean on what was said before it."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.base import Lexicon
from llama_index_condense_plus.lexicons.en_cleanup import (
    CONNECTIVE_TRAPS,
    NEGATIONS,
    PADDING,
    QUESTION_WORDS,
    connectives,
)

PRONOUN_CLASSES = {
    "it": "thing", "its": "thing", "itself": "thing", "it's": "thing", "this": "thing", "that": "thing",
    "this one": "thing", "that one": "thing", "they": "plural", "them": "plural", "their": "plural",
    "theirs": "plural", "themselves": "plural", "these": "plural", "those": "plural", "both": "plural",
    "they're": "plural", "they've": "plural", "he": "male", "him": "male", "his": "male", "himself": "male",
    "he's": "male", "she": "female", "her": "female", "hers": "female", "herself": "female", "she's": "female",
    "there": "place", "then": "time", "one": "thing", "ones": "plural", "another": "thing", "others": "plural",
    "such": "thing",
}  # fmt: skip
"""Pronoun → what it may stand for: person (male, female), thing, place, time, plural."""

_ONLY_CLASSED = {
    "there", "then", "one", "ones", "another", "others", "such", "both", "itself", "himself", "herself",
    "themselves",
}  # fmt: skip
PRONOUNS = frozenset(PRONOUN_CLASSES) - _ONLY_CLASSED

NOT_PRONOUNS = frozenset(
    {
        "it department", "it support", "it team", "it staff", "it manager", "it admin", "it security", "it helpdesk",
        "it help desk", "it policy", "it service", "it services", "it infrastructure", "it asset", "it assets",
        "it budget", "it specialist", "it director", "it industry", "it company", "it equipment", "it systems",
        "it ticket", "it project", "it governance", "it operations", "it professional", "it professionals", "it job",
        "it jobs", "it is raining", "is it raining", "it is snowing", "is it snowing", "it rains", "it snows",
        "will it rain", "will it snow", "it's raining", "this year", "this month", "this week", "this morning",
        "this afternoon", "this evening", "this quarter", "this time of year", "this century", "this weekend",
        "this summer", "this winter", "this spring", "this autumn", "this fall", "these days", "those who",
        "that is to say", "i.e. that", "in this day and age", "there is", "that said", "so that", "such that",
        "now that", "given that", "provided that", "except that", "what time is it", "what day is it",
        "how long does it take to", "how much does it cost to", "what does it take to", "what does it mean to",
        "how does it feel to", "when it comes to", "make it possible to", "made it possible to", "this is",
    }
)  # fmt: skip
"""Longer phrases that contain a pronoun and refer to nothing."""

OPENERS = frozenset(
    {
        "and", "but", "or", "so", "also", "then", "what about", "how about", "what else", "who else", "where else",
        "anything else", "and what about", "what if", "how come", "why not", "why so", "such as", "as well",
        "because", "in that case", "if so", "if not", "then what", "or else", "like what", "for example",
        "for instance", "instead", "plus", "besides", "otherwise", "even if", "same for", "same question for",
        "same with", "likewise",
    }
)  # fmt: skip
"""Words that open a follow-up."""

BACK_REFERENCES = frozenset(
    {
        "you said", "you mentioned", "you just", "you told", "you listed", "you described", "you recommended",
        "you suggested", "we discussed", "we talked about", "last answer", "previous answer", "your answer",
        "your last", "your previous", "my last question", "my previous question", "last question",
        "previous question", "the above", "above mentioned", "above-mentioned", "mentioned above",
        "mentioned earlier", "mentioned before", "aforementioned", "as mentioned", "the same", "the rest",
        "go back to", "going back to", "back to the first", "just mentioned", "just said", "elaborate",
        "tell me more", "more details", "more detail", "more information", "more info", "say more",
        "explain further", "explain more", "what else", "anything else", "something else", "someone else",
        "anyone else", "who else", "where else", "everything else", "else", "go on", "continue", "keep going",
        "in other words", "be more specific", "your suggestion", "your recommendation",
    }
)  # fmt: skip
"""Phrases that point at earlier turns."""

ORDINALS = frozenset(
    {
        "the first", "the second", "the third", "the fourth", "the fifth", "the last one", "the first one",
        "the second one", "the third one", "the latter", "the former", "the other", "the others", "the other one",
        "the other ones", "option a", "option b", "option c", "option one", "option two", "option 1", "option 2",
        "option 3", "plan a", "plan b", "number one", "number two", "number 1", "number 2", "number three",
        "first option", "second option", "third option", "second step", "first step", "third step", "next step",
        "last step", "either of", "neither of", "both of", "which one", "which ones", "none of", "all of",
    }
)  # fmt: skip
"""Choices among things that were mentioned."""

COMPARATIVES = frozenset(
    {
        "better", "worse", "cheaper", "faster", "slower", "bigger", "smaller", "larger", "longer", "shorter",
        "higher", "lower", "easier", "harder", "safer", "stronger", "weaker", "older", "newer", "younger", "heavier",
        "lighter", "more", "less", "fewer", "similar", "different", "difference", "differences", "compare",
        "compared", "comparison", "versus", "similarities", "similarity", "earlier", "later", "another", "other",
        "others", "same", "alternatives", "alternative",
    }
)  # fmt: skip
"""Comparison words whose other side may be missing."""

SMALL_TALK = frozenset(
    {
        "hi", "hello", "hey", "hi there", "hello there", "hey there", "good morning", "good afternoon",
        "good evening", "good night", "greetings", "howdy", "yo", "thanks", "thank you", "thank u", "thx", "ty",
        "thanks a lot", "thank you very much", "thank you so much", "many thanks", "much appreciated", "cheers",
        "thanks so much", "thanks again", "thank you again", "thanks for your help", "thank you for your help",
        "thanks for the help", "thank you for the help", "thanks for the information",
        "thank you for the information", "thank you for your time", "appreciate it", "i appreciate it",
        "i appreciate your help", "bye", "bye bye", "goodbye", "good bye", "see you", "see ya", "see you later",
        "take care", "have a nice day", "have a good day", "have a great day", "have a good one", "ok", "okay", "k",
        "kk", "alright", "all right", "got it", "i see", "understood", "great", "nice", "cool", "perfect", "awesome",
        "excellent", "wonderful", "good", "fine", "very good", "sounds good", "sounds great", "that's all",
        "that is all", "that will be all", "that'll be all", "that's it", "that would be all", "nothing else",
        "that's all i need", "that is all i need", "that is all i needed", "that's all i needed",
        "that's everything", "no that's all", "i am good", "i'm good", "nope", "nah", "you too", "you're welcome",
        "welcome", "no problem", "never mind", "nevermind", "lol", "haha", "wow", "oh", "hmm", "how are you",
        "who are you", "nice to meet you", "no worries", "sorry", "my bad", "please", "very much", "so much",
        "i have everything i need", "i have all i need", "have all i need", "all set", "i'm all set", "i am all set",
        "i'm done", "we're done", "all good", "makes sense", "that makes sense", "good to know", "interesting",
        "very interesting", "that's great", "that's good", "that is good", "that is great", "that helps",
        "that was helpful", "very helpful", "helpful", "good job", "well done", "amazing", "brilliant", "no thanks",
        "no thank you", "i don't need anything else", "not right now", "not now", "nothing", "end", "and",
        "you have a good day", "have a nice evening", "good luck",
    }
)  # fmt: skip
"""Messages, or parts of messages, that are greetings, thanks or acknowledgements."""

ANSWERS = frozenset(
    {
        "yes", "yeah", "yep", "yup", "no", "nope", "sure", "of course", "right", "correct", "exactly", "true",
        "definitely", "absolutely", "certainly", "indeed", "yes please", "please do", "not really", "maybe",
        "i think so", "go ahead", "i agree", "either", "any", "either one", "both", "none", "neither", "whatever",
        "anything", "doesn't matter", "i don't care", "i dont care", "don't care", "dont care", "it doesn't matter",
        "any is fine", "no preference", "don't mind", "yes i do", "no i don't", "yes i would", "that one",
        "yes it is",
    }
)  # fmt: skip
"""Whole messages that answer a question of the assistant's, and say nothing without it."""

FILLERS = frozenset(
    {
        "so", "very", "much", "then", "and", "but", "please", "well", "oh", "again", "really", "that's", "a", "for",
        "you", "i", "with", "all", "one",
    }
)  # fmt: skip
"""Words that change nothing between greetings."""

THANKS = (
    r"(?:many |ok |okay |great |no )?(?:thanks|thank you|thank u|thx|cheers|bye|goodbye|good bye)"
    r"(?: (?:so|very|a|again|for|to|in|and)(?: [\w']+){0,5}| \w+)?$"
)
"""Clauses of thanks and farewell."""

REMARKS = (
    r"(?:and |then |well |so |ok |oh )?(?:(?:i'll|i will|we'll|we will|i'm going|i am going|will do)\b"
    r"|(?:that |it |this )?(?:sounds|looks|seems|was)\b)"
)
"""What is said beside thanks."""

SUBORDINATORS = frozenset(
    {
        "if", "when", "while", "since", "because", "for", "in", "on", "at", "with", "as", "after", "before", "once",
        "although", "though", "given", "from", "under", "regarding", "about", "during", "without", "unless", "using",
        "to", "according", "between", "among", "of", "by",
    }
)  # fmt: skip
"""Words that begin a clause which the question after it needs."""

FUNCTION_WORDS = QUESTION_WORDS | NEGATIONS | frozenset(
    {
        "a", "an", "the", "this", "that", "these", "those", "i", "i'm", "i'd", "i'll", "i've", "im", "id", "ive",
        "me", "my", "mine", "myself", "you", "you're", "your", "yours", "yourself", "we", "we're", "us", "our",
        "ours", "he", "him", "his", "she", "her", "hers", "it", "it's", "its", "itself", "they", "them", "their",
        "theirs", "themselves", "himself", "herself", "one", "ones", "someone", "anyone", "everyone", "something",
        "anything", "everything", "nothing", "and", "or", "but", "if", "then", "else", "so", "as", "because",
        "while", "though", "although", "of", "at", "by", "for", "with", "about", "against", "between", "into",
        "through", "during", "before", "after", "above", "below", "to", "from", "up", "down", "in", "out", "on",
        "off", "over", "under", "again", "further", "once", "here", "there", "all", "any", "both", "each", "few",
        "more", "most", "other", "another", "some", "such", "only", "own", "same", "than", "too", "very", "just",
        "also", "well", "even", "still", "yet", "ever", "already", "now", "be", "been", "being", "having", "doing",
        "get", "got", "let", "let's", "please", "tell", "know", "want", "would", "like", "need", "there's", "that's",
        "ok", "okay", "yes", "yeah", "yep", "hi", "hello", "hey", "thanks", "thank", "bye", "goodbye", "sure", "oh",
        "um", "uh", "really", "actually", "maybe", "perhaps", "much", "many", "lot", "lots", "thing", "things",
        "per", "via", "upon", "onto", "within", "toward", "towards", "until", "till", "since", "whether", "either",
        "due", "etc", "e.g", "i.e", "vs", "versus", "they're", "we'll", "you'll", "he's", "she's", "they've",
        "we've", "you've", "d", "s", "t", "ll", "re", "ve", "m", "what're", "who're", "when's", "why's", "how'd",
        "gonna", "gotta", "wanna", "there're", "going", "go", "does", "must", "ought", "cause", "instead", "every",
        "less", "least", "little", "bit", "quite", "rather",
    }
)  # fmt: skip
"""Words without content of their own."""


def lexicon() -> Lexicon:
    """Return the English lexicon."""
    return Lexicon(
        code="en",
        name="English",
        pronouns=PRONOUNS,
        not_pronouns=NOT_PRONOUNS,
        openers=OPENERS,
        back_references=BACK_REFERENCES,
        ordinals=ORDINALS,
        comparatives=COMPARATIVES,
        small_talk=SMALL_TALK,
        answers=ANSWERS,
        fillers=FILLERS,
        thanks=THANKS,
        remarks=REMARKS,
        connectives=connectives(),
        connective_traps=CONNECTIVE_TRAPS,
        padding=PADDING,
        function_words=FUNCTION_WORDS,
        negations=NEGATIONS,
        question_words=QUESTION_WORDS,
        pronoun_classes=PRONOUN_CLASSES,
        models_ellipsis=True,
    )
