"""What is summarised when, how the model is asked, and what is kept of its answer; pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from llama_index_condense_plus.languages import pack_of
from llama_index_condense_plus.languages.text import fold
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.cutting import cut
from llama_index_condense_plus.rewriting.history import spoken
from llama_index_condense_plus.types import WindowMessage

NAME_KINDS = frozenset({"title", "code", "name", "person", "place", "organisation", "quoted"})
NAMES_SHARE = 3
"""The list of names takes at most this part of the summary: a third."""
FIRST_NAMES_SHARE = 0.6
"""Of the names' room, what the earliest keep when it is full: "the first one" is asked about as often as the last."""
MESSAGE_MAX_TOKENS = 300
"""A message is shown to the summarising model up to this many tokens."""
MAX_MESSAGES_AT_ONCE = 40
"""Messages of one refresh; a longer backlog takes several."""
_TAG = re.compile(r"<(\s*/?\s*(?:summary|conversation)\b)", re.IGNORECASE)
_THINK = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
LONGEST_NAMES_LABEL = 24
"""Characters kept free for the label before the names, in any language."""


@dataclass(frozen=True, slots=True)
class SummaryState:
    """The stored summary of a conversation."""

    text: str = ""
    """The model's words."""
    names: tuple[str, ...] = ()
    """Names in the order in which they were first mentioned."""
    n_messages: int = 0
    """Watermark: how many of the conversation's messages, from the first, are summarised."""
    mark: str = ""
    """Fingerprint of the last summarised message, by which a replaced history is noticed."""
    lease_until: float = 0.0
    """Until when somebody is refreshing it, in seconds since the epoch; 0: nobody."""

    @classmethod
    def from_dict(cls, stored: dict[str, Any] | None) -> SummaryState:
        """Read a stored state; what is missing or unknown is left out."""
        stored = stored or {}
        return cls(
            str(stored.get("text", "")),
            tuple(stored.get("names", ())),
            int(stored.get("n_messages", 0)),
            str(stored.get("mark", "")),
            float(stored.get("lease_until", 0.0)),
        )

    def fits(self, messages: Sequence[ChatMessage]) -> bool:
        """Return True if it summarises the beginning of this history."""
        if self.n_messages == 0:
            return True
        return len(messages) >= self.n_messages and fingerprint(messages[self.n_messages - 1]) == self.mark


def fingerprint(message: ChatMessage) -> str:
    """Return a short hash of a message's role and words."""
    words = f"{message.role.value}\n{message.content}"
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]


def due(
    messages: Sequence[ChatMessage], state: SummaryState, after_messages: int, keep_messages: int, min_chars: int
) -> int:
    """Return the watermark after the next refresh; the present one if none is due.

    Args:
        messages: the whole history, oldest first.
        state: what is summarised, fitting the history.
        after_messages: up to this many messages nothing is summarised.
        keep_messages: the newest messages that are never summarised.
        min_chars: fewer new characters than this are left for later.
    """
    if len(messages) <= after_messages:
        return state.n_messages
    end = min(len(messages) - keep_messages, state.n_messages + MAX_MESSAGES_AT_ONCE)
    while end > state.n_messages and end < len(messages) and messages[end].role != MessageRole.USER:
        end -= 1  # a round is summarised whole
    new = messages[state.n_messages : end]
    if not new or sum(len(message.content or "") for message in new) < min_chars:
        return state.n_messages
    return end


def request(state: SummaryState, new: Sequence[ChatMessage], max_chars: int) -> list[ChatMessage]:
    """Return the messages that ask a model to merge the old summary with what is new."""
    said = _said(new)
    pack = pack_of(state.text + "".join(message.full_text for message in said))
    line = pack.phrase("line")
    lines = (line.format(who=pack.phrase(m.role), words=cut(m.full_text, MESSAGE_MAX_TOKENS)) for m in said)
    conversation = _TAG.sub(r"< \1", "\n".join(lines))
    system = pack.phrase("summary_request").format(max_chars=_model_chars(max_chars))
    old = _TAG.sub(r"< \1", state.text)
    user = f"<summary>\n{old}\n</summary>\n<conversation>\n{conversation}\n</conversation>"
    return [ChatMessage(role=MessageRole.SYSTEM, content=system), ChatMessage(role=MessageRole.USER, content=user)]


def merged(
    state: SummaryState,
    answer: str,
    messages: Sequence[ChatMessage],
    end: int,
    extractor: EntityExtractor,
    max_chars: int,
) -> SummaryState | None:
    """Return the state after a refresh, or None if the answer is no summary.

    Args:
        state: the state before.
        answer: what the model said.
        messages: the whole history.
        end: the new watermark.
        extractor: finds the names.
        max_chars: longest summary in characters.
    """
    text = shorten(_THINK.sub("", answer).strip(), _model_chars(max_chars))
    if not text:
        return None
    names = list(state.names)
    for message in _said(messages[state.n_messages : end]):
        for name in _names(message.full_text, extractor):
            _add(names, name)
    return SummaryState(text, _fitting(names, max_chars // NAMES_SHARE), end, fingerprint(messages[end - 1]))


def rendered(state: SummaryState, max_chars: int) -> str:
    """Return the summary as rewriter and answer see it: the names, then the words; at most ``max_chars``."""
    if not state.n_messages:
        return ""
    pack = pack_of(state.text)
    names = pack.phrase("comma").join(state.names)
    top = f"{pack.phrase('summary_names')}{names}\n" if names else ""
    return (top + shorten(state.text, max_chars - len(top))).strip()


def shorten(text: str, max_chars: int) -> str:
    """Return at most ``max_chars`` characters of a text, ending with a sentence where one ends in the second half."""
    if len(text) <= max_chars:
        return text
    head = text[: max(0, max_chars)]
    *whole, _ = [sentence.end for sentence in pack_of(head).sentences(head)] or [0]
    return head[: whole[-1]].rstrip() if whole and whole[-1] >= max_chars // 2 else head.rstrip()


def _model_chars(max_chars: int) -> int:
    return max_chars - max_chars // NAMES_SHARE


def _names(text: str, extractor: EntityExtractor) -> Iterator[str]:
    return (entity.text for entity in extractor.extract(text) if entity.kind in NAME_KINDS)


def _add(names: list[str], name: str) -> None:
    """Add a name; one that is known in full, or known by a part, keeps its place."""
    if any(_holds(known, name) for known in names):
        return
    parts = [i for i, known in enumerate(names) if _holds(name, known)]
    if parts:
        names[parts[0]] = name
    else:
        names.append(name)


def _holds(name: str, part: str) -> bool:
    """Return True if the words of a name hold those of another, as "Kestrel K7" holds "k7"."""
    return f" {fold(part)} " in f" {fold(name)} "


def _fitting(names: Sequence[str], max_chars: int) -> tuple[str, ...]:
    """Return the earliest and the latest names that fit; those between them go."""
    room = max_chars - LONGEST_NAMES_LABEL
    if sum(len(name) + 2 for name in names) <= room:
        return tuple(names)
    first = _as_many(names, int(room * FIRST_NAMES_SHARE))
    last = _as_many(names[::-1], room - sum(len(name) + 2 for name in names[:first]))
    return (*names[:first], *names[max(first, len(names) - last) :])


def _as_many(names: Sequence[str], room: int) -> int:
    for count, name in enumerate(names):
        room -= len(name) + 2
        if room < 0:
            return count
    return len(names)


def _said(messages: Sequence[ChatMessage]) -> list[WindowMessage]:
    return [message for message in spoken(messages)[0] if message is not None]
