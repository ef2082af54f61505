"""Korean: pronouns, openers and small talk; everything else is always rewritten."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.base import Lexicon


def lexicon() -> Lexicon:
    """Return the Korean lexicon."""
    return Lexicon(
        code="ko",
        name="Korean",
        pronouns=frozenset(
            {"그것", "이것", "저것", "그", "이", "그녀", "그들", "이들", "거기", "여기", "그거", "이거", "그건", "이건"}
        ),
        openers=frozenset({"그럼", "그리고", "그러면", "또", "그런데", "하지만"}),
        small_talk=frozenset(
            {"안녕하세요", "안녕", "감사합니다", "고마워요", "고맙습니다", "네", "알겠습니다", "좋아요"}
        ),
    )
