"""Turns of the hard conversations, and what the gate and the rules make of them, to the word.

python -m tests.rewriting.known_turns     # takes over what they make today; the difference shows what has changed
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.rules import RuleRewriter
from llama_index_condense_plus.rewriting.trigger import build_trigger
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import RewriteRequest
from tests.rewriting.hard_cases import DATA, hard_cases
from tests.rewriting.trigger_traps import HISTORIES, NEEDS, NEEDS_NONE

FILE = DATA / "known_turns.jsonl"
CONVERSATIONS = ("hard_conversations", "held_out_conversations", "further_conversations", "later_conversations")
MORE = {
    ("How much is the GTE-3000?", "It costs 2,999 euros."): (
        "and the weight?", "What about the GTE-4000?", "is it waterproof?", "who makes it and where?", "Its warranty?",
        "how heavy?", "in dollars?", "And in Canada?", "why?",
    ),
    ("GTE-3000多少钱？", "2999元。"): (
        "重量呢？", "那GTE-4000呢？", "它防水吗？", "这款手机有GPS吗", "去年呢", "保修期多长", "在哪买",
        "那价格和重量呢",
    ),
    ("有哪些套餐？", "有三种：\n1. 标准版，每月10元\n2. 专业版，每月30元\n3. 企业版，每月90元"): (
        "第二种多少钱", "最便宜的是哪个？", "最后一个有什么功能", "它们有什么区别",
    ),
    ("Which plans are there?", "There are three:\n1. Basic, 10 euros\n2. Pro, 30 euros\n3. Team, 90 euros"): (
        "how much is the second one?", "Is Pro better than Basic?", "the most expensive one?",
    ),
    ("Who directed Silent Harbor?", "Ingrid Vale directed it."): (
        "When was she born?", "When was it released?", "What else did she direct?", "Who wrote it?", "And Loud Harbor?",
    ),
    ("《霸王别姬》的导演是谁？", "陈凯歌。"): ("他多大了", "哪年上映的", "主演呢", "他还拍过什么"),
    ("从北京到上海的高铁多久？", "四个半小时。"): ("反过来呢", "飞机呢"),
    ("Does the Alder cabin have a stove?", "Yes.", "Does the Birch cabin have a sauna?", "Yes."): (
        "Back to the Alder cabin, is the Alder cabin warm?", "Back to the Alder cabin, is it warm?",
        "Which one is warmer?",
    ),
    ("Can dogs stay at the inn in July?", "Yes."): ("and cats?", "for two nights?", "even if they bark?", "in August?"),
    ("七月能停车吗？", "能。"): ("八月呢",),
    ("iPhone多少钱？", "5999元。"): ("它防水吗？",),
    ("三天内能退货吗？", "能。"): ("十天呢",),
    ("成人票多少钱？", "80元。"): ("儿童呢？", "老人票呢？"),
}  # fmt: skip
"""More follow-ups, of which the rules make what they should."""
LEANING = {
    "phone": (
        "李安和他的儿子谁高",
        "《他》这部电影的导演是谁",
        "张艺谋的电影里他最喜欢哪部",
        "我女儿今年三岁，她能坐吗",
        "华为P60和它的前代有什么区别",
        "该公司的地址",
        "该怎么办",
        "其他颜色有吗",
        "其价格是多少",
        "此外还有什么",
        "此商品包邮吗",
        "吉他多少钱",
        "那个，我想问一下价格",
        "那个…价格多少",
        "这样的话怎么办",
        "这样行吗",
        "那样的手机有吗",
        "我们部门这边怎么申请",
        "他的《活着》讲什么",
        "他，《活着》呢",
        "李雷的手机坏了他该怎么办",
        "程序报错了它怎么修",
        "奥德彪是谁，他多大",
        "苹果公司和它的CEO是谁",
        "那边天气怎么样",
        "当时的价格",
        "这时候去合适吗",
        "什么是区块链，它有什么用",
        "周杰伦的《青花瓷》是他写的吗",
        "如果客人要退款，他需要什么证件",
    ),
    "product": (
        "Is it possible to get a refund?",
        "It takes how long to get there?",
        "it's raining, can I go?",
        "Is it true that cats sleep a lot?",
        "What is Docker and why is it popular?",
        "When a guest arrives, can she park?",
        "that film I liked was good",
        "this year's budget",
        "those who pay",
        "those are nice",
        "I think that works",
        "is that ok?",
        "the phone that rings",
        "John said he is late. Where does he live?",
        "who is her friend's boss",
        "What does Rome offer and how big is it?",
        "Does the teacher grade her students?",
        "of its own",
        "if an engineer leaves, what happens to his laptop?",
        "The printers are old, should they be replaced?",
        "Can I return it if it doesn't fit?",
        "a dog and its owner",
        "What is it like to be a bat?",
        "does it mean that I must pay?",
        "why is it recommended to wait?",
        "is it safe to drink",
        "how much does it rain",
    ),
}
"""Messages with pronouns, some of which the message itself explains: the gate's alone."""
SETTINGS = CondensePlusSettings()
TRIGGER = build_trigger(SETTINGS)


@dataclass(frozen=True, slots=True)
class Turn:
    """A message in its conversation and what becomes of it."""

    history: tuple[str, ...]
    message: str
    reason: str
    logit: float | None
    """The gate's sum of weights: unlike the score it moves with every feature."""
    cues: tuple[str, ...] = ()
    """What the gate saw in the message: each cue with its place and words."""
    names: tuple[str, ...] | None = None
    """What the conversation speaks of, likeliest first, each with its kind."""
    query: str | None = None
    """What the rules say where they are known to be right; None elsewhere."""


def made(history: tuple[str, ...], message: str) -> Turn:
    """Return what is made of a message today."""
    pairs = [(("user", "assistant")[n % 2], text) for n, text in enumerate(history)]
    window = build_window(pairs, SETTINGS.history)
    decision = TRIGGER.decide(message, window)
    logit = None if decision.score is None else round(math.log(decision.score / (1 - decision.score)), 3)
    query = RuleRewriter().outcome(RewriteRequest(message, window, decision)).text
    names = tuple(f"{entity.text} ({entity.kind})" for entity in window.entities)
    cues = tuple(f"{cue.name} {cue.start} {cue.text}" for cue in decision.cues)
    return Turn(history, message, decision.reason.value, logit, cues, names, query)


def known() -> Iterator[Turn]:
    """Yield the turns of the file, of which each line holds a conversation."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for turn in row["turns"]:
            lists = {key: tuple(turn[key]) for key in ("cues", "names") if key in turn}
            yield Turn(**turn | lists, history=tuple(row["history"]))


def _today() -> Iterator[Turn]:
    """Yield each case, and in its conversation the question with which the next one begins."""
    cases = [case for name in CONVERSATIONS for case in hard_cases(name)]
    for case, other in zip(cases, [*cases[1:], cases[0]], strict=True):
        turn = made(case.history, case.question)
        yield turn if turn.query and case.right(turn.query) else replace(turn, query=None)
        yield replace(made(case.history, other.history[0]), names=None, query=None)
    for history, messages in MORE.items():
        yield from (made(history, message) for message in messages)
    for messages_of in (NEEDS, NEEDS_NONE, LEANING):
        for name, messages in messages_of.items():
            yield from (replace(made(HISTORIES[name], one), names=None, query=None) for one in messages)


if __name__ == "__main__":
    talks: dict[tuple[str, ...], dict[str, dict[str, object]]] = {}
    for turn in _today():
        row = {key: value for key, value in asdict(turn).items() if key in ("history", "logit") or value}
        talks.setdefault(row.pop("history"), {})[turn.message] = row
    rows = ({"history": history, "turns": list(turns.values())} for history, turns in talks.items())
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    FILE.write_text("".join(lines), encoding="utf-8")
