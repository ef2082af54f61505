"""Guard: instructions, the prompt, or talk about rewriting instead of a question; instructions found in the history."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import clip, folded
from llama_index_condense_plus.rewriting.guards.clauses import sentences
from llama_index_condense_plus.rewriting.guards.features import features, retained
from llama_index_condense_plus.types import GuardVerdict, HistoryWindow

_META = regex(
    r"stand-?alone question|rewrit(?:e|ten|ing) (?:the|this|that|it|question|query|as)|rephras(?:e|ed|ing) (?:the|"
    r"this|question)|follow-?up (?:question|input|message)|chat[ _]history|conversation history|"
    r"(?:previous|prior|earlier|above|our|given|provided) (?:conversation|context|chat|dialog(?:ue)?)\b|"
    r"based on (?:the|this) (?:conversation|context)|search query|coreference|pronouns?\b|\bas an ai\b|"
    r"language model|ignore (?:all|any|the|previous|above)|"
    r"disregard (?:all|any|the|previous|above)|system prompt|\b(?:the )?user(?:'s)? (?:is asking|wants|asks|asked|"
    r"question|query|input)|i (?:cannot|can't|am unable)|"
    r"改写|重写(?:后|为|成|问题)|独立(?:的)?问题|对话历史|聊天记录|历史对话|上下文|指代|代词|检索词|语言模型|"
    r"人工智能助手|忽略(?:以上|上面|之前|前面|所有)|无视(?:以上|上面|之前|前面|所有)|系统提示|提示词|用户(?:想|在问|"
    r"询问|提问|的问题)|根据(?:以上|上面|上述|之前的?)(?:对话|内容|信息|历史)"
)
_INSTRUCTS = regex(
    r"ignore (?:all|any|the|everything|previous|prior|above|my|your|this|these|that)|disregard|forget (?:all|any|the|"
    r"everything|previous|above|your)|override|new instructions?|system\s*[:：]|instead,? (?:of|output|print|say|"
    r"respond|reply|write|ask|search|return)|"
    r"\b(?:output|print|respond with|reply with|answer with|repeat after me|always (?:say|output|reply|respond|"
    r"answer|ask|search|write)|just (?:say|output|write|reply|print)|must (?:say|output|reply|respond|search|"
    r"be rewritten)|rewrite (?:it|this|the|every|all|any)|say exactly|write exactly|only (?:output|say|print|reply)|"
    r"search instead)\b|"
    r"忽略(?!了)|无视|忘记(?:以上|之前|所有|前面)|不要理会|别理|新的?指令|系统[:：]|请?(?:只|直接|务必|必须|一律|"
    r"统一)?(?:输出|回复|回答|改写[为成]|打印|返回)[:：「“\"'『《]|(?:只|直接|务必|必须|一律|统一)(?:需要?|能|"
    r"要)?(?:输出|回复|回答|搜索|返回|改写|打印|说)|一律|统一改为|改为搜索|请?重复(?:以下|下面)|照抄"
)


class MetaTextGuard:
    """Finds rewrites that talk about the task, and rewrites that carry out an instruction of the history.

    What the user asks about in the same words (a question about a system prompt) passes.
    """

    name = "meta_text"

    def check(self, original: str, rewrite: str, window: HistoryWindow) -> list[GuardVerdict]:
        """Return a verdict on talk about the task and one on obeyed instructions."""
        asked = folded(original)
        found = [m.group() for m in _META.finditer(folded(clip(rewrite, _CHECKED))) if m.group() not in asked]
        obeyed = _obeyed(original, rewrite, window)
        return [
            GuardVerdict(f"{self.name}.task", not found, "reject", float(len(found)), 0.0, ", ".join(found[:3])),
            GuardVerdict(f"{self.name}.instruction", not obeyed, "reject", detail=obeyed[:_SHOWN]),
        ]


_CHECKED = 4_000
_SHOWN = 80
_MOST = 0.6


def _obeyed(original: str, rewrite: str, window: HistoryWindow) -> str:
    """Return the instruction of the history that the rewrite carries out, if it does.

    It does if most of what the rewrite adds to the question stands in one passage with an instruction, and nowhere
    else in the conversation.
    """
    messages = [m for m in window.all_messages if _instructions(m.full_text)]
    if not messages:
        return ""
    question, after = features(original), features(rewrite)
    added = [word for word in after.words if not retained(word, question)]
    for message in messages if added else ():
        others = [features(m.full_text) for m in window.all_messages if m is not message]
        for passage, rest in _instructions(message.full_text):
            elsewhere = [features(rest), *others]
            from_it = [
                w
                for w in added
                if retained(w, features(passage)) and not any(retained(w, other) for other in elsewhere)
            ]
            if len(from_it) >= _MOST * len(added):
                return passage
    return ""


@remembered
def _instructions(text: str) -> tuple[tuple[str, str], ...]:
    """Return the passages of a message that give orders, each with the rest of the message.

    A passage is the sentence that gives the order and the two after it.
    """
    parts = sentences(clip(text, _CHECKED))
    return tuple(
        (" ".join(parts[i : i + 3]), " ".join(parts[:i] + parts[i + 3 :]))
        for i, part in enumerate(parts)
        if _INSTRUCTS.search(folded(part))
    )
