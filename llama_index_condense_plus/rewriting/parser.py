"""From a model's raw output to the question in it: whatever cannot be parsed is never searched."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.rewriting.parser_json import ENTRY, json_question
from llama_index_condense_plus.types import Edit

MAX_PARSED_CHARS = 20_000
"""What is left after the think text is parsed up to this size; a question is shorter."""

_OPEN = regex(
    r"<\s*(think|thinking|thought|reasoning|reflection|scratchpad|analysis)\s*>|◁think▷|\[THINK\]|"
    r"<\|begin_of_thought\|>",
    re.IGNORECASE,
)
_CLOSE = regex(
    r"<\s*/\s*(think|thinking|thought|reasoning|reflection|scratchpad|analysis)\s*>|◁/think▷|\[/THINK\]|"
    r"<\|end_of_thought\|>",
    re.IGNORECASE,
)
_CHANNEL = regex(r"<\|channel\|>\s*final\s*<\|message\|>", re.IGNORECASE)
_ANY_CHANNEL = regex(r"<\|channel\|>", re.IGNORECASE)
_END_OF_TURN = regex(
    r"<\|(?:im_end|eot_id|end|endoftext|end_of_text|return|eom_id)\|>|</s>|<end_of_turn>|\[/INST\]", re.IGNORECASE
)
_START_OF_TURN = regex(
    r"<\|(?:im_start|start_header_id)\|>\s*(?:assistant)?\s*(?:<\|end_header_id\|>)?|<start_of_turn>\s*(?:model)?|"
    r"<s>|\[INST\]",
    re.IGNORECASE,
)
_FENCE = regex(r"(?:```|~~~)[ \t]*([\w+-]*)[ \t]*\r?\n?(.*?)(?:```|~~~|\Z)", re.DOTALL)
_TAGS = (
    "rewritten_question|rewritten_query|rewritten|rewrite|standalone_question|standalone"
    "|question|query|output|answer|result"
)
_TAGGED = regex(rf"<({_TAGS})>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)

_LABEL_WORDS = (
    r"(?:(?:the|my|your|final|here(?:'s| is| are)|a|an|new|user'?s?)\s+)*"
    r"(?:(?:possible|suggested|improved|clear|concise|complete|fully|single|following)\s+)*"
    r"(?:stand-?alone|rewritten|re-?phrased|reformulated|condensed|search|final|revised|contextuali[sz]ed|"
    r"self-contained|follow-?up|output|updated|resolved|decontextuali[sz]ed)?\s*"
    r"(?:version|search|user|follow-?up|standalone|self-contained)?\s*"
    r"(?:question|query|rewrite|rewriting|output|result|response|answer|version|q|a)"
    r"(?:\s+(?:would be|could be|is|might be|of the (?:user'?s? )?(?:follow-?up |last )?(?:question|query)|"
    r"for (?:retrieval|search|the search)|in english|based on [\w ,'-]{0,60}))*"
)
_LABEL_EN = regex(
    rf"^(?:sure|certainly|of course|okay|ok|absolutely|yes|great)?[\s,.!]*{_LABEL_WORDS}\s*[:：]\s*", re.IGNORECASE
)
_LABEL_ZH = regex(
    r"^(?:好的|当然|当然可以|没问题|可以)?[\s，,。！!]*(?:以下是|下面是|这是|这里是|根据[^：:\n]{0,40}?[，,])?\s*"
    r"(?:我)?(?:为您|为你|帮您|帮你|将其|将问题|把问题)?(?:用户的?|最终的?|完整的?|独立的?|新的?|原|您的?|你的?|该|"
    r"一个|清晰的?|明确的?)*"
    r"(?:(?:重写|改写|重新表述|改述|补全|独立|检索|搜索|查询|最终|优化|转写|完整|重构|消歧|标准|规范化?|"
    r"自包含)(?:之?后|好|成|出)?(?:的|为|成)?(?:一个)?)*"
    r"(?:独立|完整|检索|搜索|查询|用户|最终|新)*(?:的)?"
    r"(?:问题|问句|查询|查询语句|语句|检索词|检索语句|检索式|检索问题|句子|提问|结果|输出|答案|回答|版本|重写|改写|"
    r"问|答|(?<=[后为]))"
    r"(?:如下|是|为|可以是|应该是|应为)?\s*[:：]\s*"
)
_ORIGINAL_LABEL = regex(
    r"^\W*(?:(?:the )?(?:original|follow-?up|user|last|latest|current|previous)(?: (?:user|follow-?up))? (?:question|"
    r"query|input|message)|original|input|chat history|conversation|context|history|"
    r"原问题|原始问题|原句|原文|用户问题|当前问题|后续问题|追问|历史对话|对话历史|聊天记录|上下文)\s*[:：]",
    re.IGNORECASE,
)
_EXPLAINS = regex(
    r"^[\s(（\[【*_-]*(?:note|explanation|reasoning|rationale|reason|this (?:question|query|rewrite|rewritten|"
    r"version|standalone|is)|the (?:rewritten|rewrite|question|query|standalone|follow-?up|user)|"
    r"i (?:have |'ve )?(?:rewrote|rewritten|replaced|kept|added|resolved|changed|made)|i hope|let me know|please let|"
    r"in this (?:rewrite|question|version)|here,? (?:i|the)|since the|because the|changes made|assumption|"
    r"注|注意|说明|解释|备注|理由|原因|分析|这样改写|这个问题|该问题|此问题|这里|这句|我将|我把|我已|其中|"
    r"改写(?:说明|理由|后)|补充说明|通过|希望|如果您|如需|由于|因为原|根据(?:上下文|对话|历史))",
    re.IGNORECASE,
)
_BULLET = regex(
    r"^\s*(?:[-*•·▪◦‣–—>#]+\s+|#{1,6}\s*|>\s*|[(（]?\d{1,2}[)）.、．:：]\s*(?!\d)|[①②③④⑤⑥⑦⑧⑨]\s*|"
    r"[(（]?[a-cA-C][)）.]\s+|Q\d*\s*[:：.]\s*|问\s*[:：]\s*)"
)
_ROLE = regex(r"^\s*(?:user|human|assistant|system|ai|bot|用户|助手|助理|系统)\s*[:：]\s*", re.IGNORECASE)
_SAME = regex(
    r"^\W*(?:no (?:rewrite|rewriting|change|changes) (?:is |are )?(?:needed|necessary|required)|unchanged|(?:无需|"
    r"不需要|不用)(?:改写|重写|修改)|保持(?:不变|原样)|问题已(?:经)?(?:完整|独立))\W*$",
    re.IGNORECASE,
)
_NOTHING = regex(
    r"^\W*(?:none|null|nil|n/?a|error|unknown|undefined|empty|no question|无|空|无法(?:改写|重写|确定|理解)|不知道|"
    r"抱歉)\W*$",
    re.IGNORECASE,
)
_PAIRS = {
    '"': '"',
    "'": "'",
    "“": "”",
    "‘": "’",
    "「": "」",
    "『": "』",
    "`": "`",
    "«": "»",
    "„": "“",
    "”": "”",
    "【": "】",
    "[": "]",
    "(": ")",
    "（": "）",
    "<": ">",
}
_QUESTION_END = regex(r"[?？]")
_ASKS = regex(r"[?？]\W*$")


@dataclass(frozen=True, slots=True)
class ParsedRewrite:
    """What was found in a raw output."""

    text: str | None
    """The question on one line; None if there is nothing that can be trusted to be one."""
    problem: str = ""
    """Why ``text`` is None."""
    edits: tuple[Edit, ...] = ()
    """What was taken off, as one edit."""


def parse_rewrite(raw: str, original: str) -> ParsedRewrite:
    """Return the question in a model's output.

    Takes off think text, chat-template marks, fences, JSON, tags, labels, bullets, quotes and explanations.
    What the user wrote the same way (a quoted question, a leading label) stays. Linear in the output's size.

    Args:
        raw: the model's output, anything at all.
        original: the user's words.
    """
    text, problem = _without_thinking(raw.replace("\r\n", "\n").replace("\ufeff", ""))
    if not problem:
        text, problem = _question(_unwrapped(text), original)
    if problem:
        return ParsedRewrite(None, problem)
    edits = () if text == raw.strip() else (Edit("parser", raw.strip()[:_SHOWN], text),)
    return ParsedRewrite(text, "", edits)


_SHOWN = 300
_MAX_LINE = 4_000


def _without_thinking(raw: str) -> tuple[str, str]:
    """Return what follows the think text, or the problem with it."""
    text = raw
    closes = list(_CLOSE.finditer(raw))
    if closes:  # also a closing mark alone: some templates open the block in the prompt
        text = raw[closes[-1].end() :]
        before = raw[: _first_open(raw)]
        if not text.strip() and before.strip():  # the question came first, the thoughts after it
            text = before
    if _OPEN.search(text):
        return "", "unclosed think block"
    if finals := list(_CHANNEL.finditer(text)):
        text = text[finals[-1].end() :]
    elif _ANY_CHANNEL.search(text):
        return "", "unclosed think block"
    return text[:MAX_PARSED_CHARS], "" if text.strip() else "empty"


def _first_open(raw: str) -> int:
    found = _OPEN.search(raw)
    return found.start() if found else 0


def _unwrapped(text: str) -> str:
    """Return the text without chat-template marks, fences and tags."""
    text = _START_OF_TURN.sub("", text.lstrip(), count=2)
    if end := _END_OF_TURN.search(text):
        text = text[: end.start()] if text[: end.start()].strip() else text[end.end() :]
    if (fence := _FENCE.search(text)) and fence.group(2).strip():
        inside, before = fence.group(2).strip(), text[: fence.start()].strip()
        # a fence around the question, not one that follows it
        text = before if _ASKS.search(before) and not _ORIGINAL_LABEL.match(before) else inside
    if tagged := _TAGGED.search(text):
        text = tagged.group(2)
    return text.strip().strip("`").strip()


def _question(text: str, original: str) -> tuple[str, str]:
    if not text:
        return "", "empty"
    found, looks_like_json = json_question(text)
    if found is not None:
        text = found
    elif looks_like_json:
        return "", "broken or foreign JSON"
    line = _one_line(_pick(text, original)[:_MAX_LINE], original)
    if _SAME.match(line):
        line = " ".join(original.split())
    if not line or _NOTHING.match(line) or not any(map(str.isalnum, line)):
        return "", "no question in the output"
    return line, ""


def _pick(text: str, original: str) -> str:
    """Return the line that holds the question: after a label, else the first that asks, else the first."""
    lines = [line.strip() for line in text.split("\n")]
    labelled = rest = ""
    candidates: list[str] = []
    for number, line in enumerate(lines):
        bare = _bare(line, original)
        if not bare:
            continue
        if number and candidates and _ROLE.match(line):
            break  # the model goes on with the conversation
        if _ORIGINAL_LABEL.match(bare):
            continue
        if label := _label(bare, original):
            rest = _bare(bare[len(label) :], original)
            labelled = (
                labelled
                or rest
                or next((_bare(after, original) for after in lines[number + 1 :] if _bare(after, original)), "")
            )
            continue
        if candidates and _EXPLAINS.match(bare):
            break
        candidates.append(bare)
    if labelled and not _label(labelled, original):
        return labelled
    if not candidates:
        return labelled
    spoken = [line for line in candidates if not _PREAMBLE.match(line)] or candidates
    return next((line for line in spoken if _ASKS.search(line)), spoken[0])


_PREAMBLE = regex(
    r"^(?:sure|certainly|of course|okay|ok|here (?:is|are|'s)|好的|当然|以下是|下面是)[^?？]*[:：!！.。,，]?$",
    re.IGNORECASE,
)


def _bare(line: str, original: str) -> str:
    """Return a line without bullets, role and emphasis."""
    line = line.strip()
    for pattern in (_BULLET, _ROLE, _BULLET):
        found = pattern.match(line)
        if found and not original.lstrip().startswith(found.group().strip()):
            line = line[found.end() :]
    return _without_emphasis(line)


def _without_emphasis(line: str) -> str:
    for mark in ("**", "__", "*"):
        if (
            mark in line
            and mark not in ENTRY
            and line.count(mark) in (1, 2)
            and (line.startswith(mark) or line.endswith(mark))
        ):
            line = line.replace(mark, "")
    return line.strip()


def _label(line: str, original: str) -> str:
    """Return the label that a line begins with, unless the user began so too."""
    for pattern in (_LABEL_ZH, _LABEL_EN):
        found = pattern.match(line)
        if found and not original.strip().lower().startswith(found.group().strip().lower()):
            return found.group()
    return ""


def _one_line(line: str, original: str) -> str:
    for _ in range(3):
        before = line
        if label := _label(line, original):
            line = line[len(label) :]
        line = _without_emphasis(_unquoted(line.strip(), original))
        line = _without_explanation(line)
        if line == before:
            break
    return " ".join(line.split())


def _unquoted(line: str, original: str) -> str:
    """Return the line without quotes around all of it."""
    while len(line) > 1 and _PAIRS.get(line[0]) and not original.strip().startswith(line[0]):
        opening, closing = line[0], _PAIRS[line[0]]
        end = line.find(closing, 1)
        if end == len(line) - 1:
            line = line[1:-1].strip()
        elif opening in '"“「' and end != -1 and _EXPLAINS.match(line[end + 1 :]):
            line = line[1:end].strip()
        elif opening in '"“`' and end == -1:
            line = line[1:].strip()  # a quote that was never closed
        else:
            break
    if len(line) > 1 and line[-1] in '"”`' and line.count(line[-1]) == 1 and not ({"“", '"'} & set(line[:-1])):
        line = line[:-1].strip()
    return line


_PAUSE = regex(r"[?？。.!！]+[\"”’」]?\s*(?=\S)|\s*[(（\[【]\s*(?=\S)|\s+[-–—]+\s+")
_MAX_PAUSES = 64


def _without_explanation(line: str) -> str:
    """Return a line without the explanation that follows its question."""
    for mark in islice(_PAUSE.finditer(line), _MAX_PAUSES):
        head = line[: mark.start()] + mark.group().rstrip(" (（[【-–—")
        if _EXPLAINS.match(line[mark.end() :]) and (_QUESTION_END.search(head) or mark.group().strip()[:1] in "(（[【"):
            return head.strip()
    return line
