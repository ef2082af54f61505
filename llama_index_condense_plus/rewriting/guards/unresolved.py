"""Guard: a reference that the rewrite has left in place; it flags, and the original is kept beside the rewrite."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import folded, has_han
from llama_index_condense_plus.types import GuardVerdict, HistoryWindow

_ZH = regex(
    r"(?<!其)(?:它们?|他们?(?!的?命)|她们?|(?<!在)[这那](?:个|些|部|首|家|位|款|种|本|里|儿|边|条|座|台|张|件|项|次)|"
    r"该(?=[\u4e00-\u9fff])(?!不|怎|如|去|做|选|买|用|吃))(?!说)|^那|此[人片书剧]|其他(?=呢|的呢)"
)
_NOT_ZH = regex(r"其它|其他|吉他|他人|这个杀手|应该|活该|那不勒斯|这样|那样|怎么|维他|马耳他")
_EN = regex(
    r"\b(?:it|its|it's|they|them|their|theirs|he|him|his|she|her|hers|these|those|the (?:former|latter|first one|"
    r"second one|same one)|this one|that one|the ones?|ones)\b|\b(?:this|that)(?=[?.,]|$| (?:one|thing|case|place|"
    r"person)\b)"
)
_EXPLETIVE = regex(
    r"\bit(?:'s| is| was| would be)? (?:possible|necessary|important|safe|better|best|worth|true|legal|ok|okay|good|"
    r"bad|hard|easy|difficult|normal|common|recommended|required|allowed|take|mean|rain|snow)\w*\b|\bit take|"
    r"\bthose who\b|\bthat (?:is|are|can|will|has|have)\b"
)


class UnresolvedReferenceGuard:
    """Flags a rewrite that still holds a pronoun or demonstrative of the question."""

    name = "unresolved_reference"

    def check(self, original: str, rewrite: str, window: HistoryWindow) -> list[GuardVerdict]:
        """Return one verdict; a failed one flags and does not reject."""
        left = [word for word in references(rewrite) if word in references(original)] if window else []
        return [GuardVerdict(self.name, not left, "flag", float(len(left)), 0.0, ", ".join(left[:4]))]


@remembered
def references(text: str) -> tuple[str, ...]:
    """Return the referring words of a text."""
    plain = folded(text)
    if has_han(plain):
        return tuple(m.group() for m in _ZH.finditer(_NOT_ZH.sub("", plain)))
    return tuple(m.group() for m in _EN.finditer(_EXPLETIVE.sub(" ", plain)))
