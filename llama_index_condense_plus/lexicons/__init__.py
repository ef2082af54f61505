"""Language data, and the text functions that every stage shares."""

from __future__ import annotations

from llama_index_condense_plus.lexicons import de, en, es, fr, ja, ko, zh
from llama_index_condense_plus.lexicons.base import (
    Lexicon,
    lexicon_for,
    register_lexicon,
    register_source,
    registered_lexicons,
)
from llama_index_condense_plus.lexicons.detect import detect_language

__all__ = ["Lexicon", "detect_language", "lexicon_for", "register_lexicon", "registered_lexicons"]

for _code, _language in (("zh", zh), ("en", en), ("ja", ja), ("ko", ko), ("es", es), ("fr", fr), ("de", de)):
    register_source(_code, _language.lexicon)
