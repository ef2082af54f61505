"""The sections of the settings tree: every option with its meaning, unit and range."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator


def _own_file(path: Path) -> Path:
    """Expand ``~``, and refuse what can be no file."""
    if "\0" in str(path):
        raise ValueError("Input should be a path without NUL")
    try:
        expanded = path.expanduser()
    except RuntimeError:
        raise ValueError("Input should be a path in a home directory that exists") from None
    if expanded.is_dir():
        raise ValueError("Input should be a file, this is a directory")
    return expanded


def _known_timezone(name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (KeyError, ValueError, OSError):
        remedy = "an IANA time zone such as Asia/Shanghai (on Windows: pip install tzdata)"
        raise ValueError(f"Input should be {remedy}") from None


OwnFile = Annotated[Path, AfterValidator(_own_file)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
TimeZone = Annotated[str, AfterValidator(_known_timezone)]
Word = Annotated[str, Field(min_length=1)]
Words = tuple[str, ...]


class Section(BaseModel):
    """A frozen group of options that refuses unknown keys."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TriggerSettings(Section):
    """When a message is rewritten."""

    mode: Literal["pronoun", "heuristic", "learned", "always", "never"] = Field(
        "learned", description="Who decides: a word list, rules, the trained model; or always, or never."
    )
    recall_bias: float = Field(0.0, ge=-1.0, le=1.0, description="Above 0 rewrites more often, below 0 less often.")
    short_max_chars: int = Field(8, ge=0, description="Longest short question in Chinese.")
    short_max_words: int = Field(5, ge=0, description="Longest short question in other languages.")
    follow_up_hints: Words = Field((), description="Words of your domain that mark a follow-up.")
    weights_file: OwnFile | None = Field(None, description="Weights from `condense-plus train`; none: the package's.")


class LanguageSettings(Section):
    """Words added to, or removed from, a language's pack."""

    pronouns_add: Words = Field((), description="Words that refer back.")
    pronouns_remove: Words = Field((), description="Words that do not count as pronouns.")
    openers_add: Words = Field((), description="Words that open a follow-up.")
    openers_remove: Words = Field((), description="Words that do not count as openers.")
    small_talk_add: Words = Field((), description="Whole messages that are greetings or thanks.")
    small_talk_remove: Words = Field((), description="Messages that do not count as small talk.")
    connectives_add: Words = Field((), description="Time connectives and back references to remove from a query.")
    connectives_remove: Words = Field((), description="Connectives that stay in a query.")


class HistorySettings(Section):
    """The part of the conversation that the rewriting model reads."""

    max_rounds: int = Field(4, ge=0, description="Rounds (a user message and its answer) shown to the rewriter.")
    max_tokens: int = Field(1200, ge=0, description="Size of the shown history in tokens; the newest rounds stay.")
    user_max_tokens: int = Field(120, ge=1, description="Longest shown user message in tokens; the middle is cut.")
    answer_max_tokens: int = Field(160, ge=1, description="Longest shown answer in tokens; the middle is cut.")
    order: Literal["chronological", "newest_first"] = Field("chronological", description="Order of the shown messages.")


class RewriteSettings(Section):
    """How a standalone question is made."""

    chain: tuple[str, ...] = Field(
        ("llm", "rules", "original"),
        min_length=1,
        description="Rewriters in order, the first not refused wins: llm, rules, concat, original, or your own.",
    )
    output: Literal["text", "json", "structured"] = Field("text", description="Form of the model's output.")
    max_tokens: int = Field(128, ge=1, description="Upper limit of the rewrite in tokens.")
    temperature: float = Field(0.0, ge=0.0, le=2.0, description="Sampling temperature of the rewrite call, 0 to 2.")
    timeout_s: float = Field(8.0, ge=0.0, description="Deadline for the whole chain, in seconds; 0: none.")
    prompt_file: OwnFile | None = Field(None, description="Your own prompt, with {chat_history} and {question}.")
    shots_file: OwnFile | None = Field(None, description="TOML file with examples that replace the built-in ones.")
    cascade: Annotated[Share | None, BeforeValidator(lambda value: None if value == "off" else value)] = Field(
        None, description="Confidence from which the carried topic replaces the model, 0 to 1; off or none: never."
    )
    timezone: TimeZone | None = Field(None, description="IANA time zone for relative dates; none: the local one.")
    on_ambiguous: Literal["keep", "ask"] = Field(
        "keep", description="If two candidates fit: keep the rewrite, or ask the user which one is meant."
    )


class CleanupSettings(Section):
    """What is removed from a query after the rewrite."""

    enabled: bool = Field(True, description="Remove time connectives, back references and polite phrases.")
    width: Literal["fold", "keep"] = Field("fold", description="Fold full-width letters, digits and punctuation.")


class GuardSettings(Section):
    """Switch of one guard."""

    enabled: bool = Field(True, description="Off: not checked.")


class DiffRatioSettings(GuardSettings):
    """How much a rewrite may differ from the question."""

    metric: Literal["grounded", "symmetric"] = Field("grounded", description="The trained model, or the diff ratio.")
    max_symmetric: Share = Field(0.5, description="Limit of the symmetric diff ratio, 0 to 1.")


class LengthSettings(GuardSettings):
    """How long a rewrite may be."""

    max_chars: int = Field(512, ge=16, description="Longest query in characters.")
    max_growth: float = Field(8.0, ge=1.0, description="Longest rewrite as a multiple of the question's length.")
    growth_free_chars: int = Field(120, ge=0, description="Rewrites up to this many characters are never too long.")


_ON = GuardSettings()


class GuardsSettings(Section):
    """How a rewrite is reviewed: a refused one is not searched, a doubted one beside the user's own words."""

    profile: Literal["faithful", "strict", "minimal", "expansive", "off"] = Field(
        "faithful",
        description="faithful; strict: doubted counts as refused; minimal: any other change than replaced "
        "references and added parts is doubted; expansive: the model may add words; off: no review.",
    )
    doubt_threshold: Share | None = Field(None, description="Less trust is doubt; none: the model's own limit.")
    empty: GuardSettings = Field(_ON, description="Refuses a rewrite without words.")
    instruction: GuardSettings = Field(_ON, description="Refuses instructions and injections.")
    meta_text: GuardSettings = Field(_ON, description="Refuses apologies and copies of the prompt.")
    examples: GuardSettings = Field(_ON, description="Refuses names from the prompt's examples.")
    answer: GuardSettings = Field(_ON, description="Refuses an answer instead of a question.")
    repetition: GuardSettings = Field(_ON, description="Refuses a copy of the previous question or answer.")
    language: GuardSettings = Field(_ON, description="Refuses another language than the user's.")
    unrelated: GuardSettings = Field(_ON, description="Refuses a rewrite that shares nothing with the conversation.")
    diff_ratio: DiffRatioSettings = Field(DiffRatioSettings(), description="Doubts a rewrite that differs too much.")
    length: LengthSettings = Field(LengthSettings(), description="Doubts a rewrite that is too long.")
    unresolved_reference: GuardSettings = Field(_ON, description="Flags a pronoun that is left in the rewrite.")


class SynonymRule(Section):
    """One line of a business glossary."""

    when_any: tuple[Word, ...] = Field((), description="Words that trigger the rule; none: those of its pairs.")
    replace: tuple[Word | tuple[Word, str], ...] = Field(
        min_length=1,
        description="Each item makes one variant: a word replaces the matched word, a pair [old, new] "
        "replaces old by new.",
    )
    ignore_case: bool = Field(True, description="Whether letter case is ignored.")

    @model_validator(mode="after")
    def _called_by_something(self) -> SynonymRule:
        if not self.when_any and any(isinstance(item, str) for item in self.replace):
            raise ValueError("Input should have when_any, or only pairs [old, new] in replace")
        return self


class DoubtedWeights(Section):
    """How much the lists of a turn with a doubted rewrite count in fusion."""

    original: float = Field(0.65, gt=0.0, le=1.0, description="Weight of the user's own words.")
    rewrite: float = Field(1.0, gt=0.0, le=1.0, description="Weight of the doubted rewrite.")


class RetrievalSettings(Section):
    """What is searched."""

    dual: Literal["auto", "always", "never"] = Field("auto", description="Whether the user's words are searched too.")
    original_weight: Share = Field(0.65, description="Weight of the user's own words beside a trusted rewrite.")
    joined_weight: Share = Field(
        1.0, description="Weight of a search with both wordings in one query, where lists are fused; 0: none."
    )
    doubted_weights: DoubtedWeights = Field(DoubtedWeights(), description="Weights beside a doubted rewrite.")
    variant_weight: Share = Field(0.5, description="Fusion weight of each variant's list, 0 to 1.")
    blend: Literal["auto", "lists", "vector"] = Field(
        "auto",
        description="How the queries are combined: fused lists, one search with the mean of the vectors, "
        "or vectors where the retriever searches by the bundle's embedding.",
    )
    prefetch: bool = Field(True, description="Search the user's own words while the rewrite is made.")
    max_queries: int = Field(4, ge=1, le=16, description="Most queries of one turn.")
    small_talk: Literal["search", "skip"] = Field("search", description="Whether greetings and thanks are searched.")
    variants: tuple[Literal["rules", "llm", "keywords", "subquestions", "topic"], ...] = Field(
        ("topic",), description="Kinds of additional queries; topic: for a follow-up without a search term."
    )
    variants_max: int = Field(3, description="Most variants of one turn; 0 or less switches them off.")
    variants_when: Literal["always", "low_recall"] = Field("always", description="At once, or after low recall.")
    low_recall_min_nodes: int = Field(1, ge=0, description="Fewer nodes mean low recall.")
    low_recall_min_score: float | None = Field(None, description="A lower best score means low recall.")
    keywords: Literal["joined", "separate"] = Field("joined", description="One keyword query, or one per key phrase.")
    short_structured_max_chars: int = Field(
        24, ge=0, description="Longest question with a marker that is not expanded."
    )
    short_structured_markers: Words | None = Field(None, description="The markers; none: those of the language.")
    synonyms: tuple[SynonymRule, ...] = Field((), description="Glossary for the variants by rules.")
    timeout_s: float | None = Field(None, gt=0.0, description="Deadline of each retrieval in seconds.")


class FusionSettings(Section):
    """How the lists are merged."""

    method: str = Field("relative_score", description="relative_score, reciprocal_rank, max_score, or your own.")
    rrf_k: float = Field(60.0, gt=0.0, description="Constant of reciprocal rank fusion (Cormack et al. 2009: 60).")
    candidates: int | None = Field(None, ge=1, description="Nodes that postprocessors read; none: up to 4 × top_k.")
    top_k: int | None = Field(None, ge=1, description="Nodes kept after postprocessors; none: the retriever's own.")
    dedupe_text: bool = Field(False, description="Merge nodes of equal text.")
    provenance_metadata: bool = Field(False, description="Add to each node's metadata which queries found it.")


class AnswerSettings(Section):
    """What the answer call reads."""

    mode: Literal["conversation", "history", "rewritten", "original"] = Field(
        "conversation",
        description="conversation: recent turns, the question and its trusted rewrite; history: recent turns and the "
        "question; rewritten: the rewrite alone; original: the question alone.",
    )
    history_rounds: int = Field(3, ge=0, description="Rounds shown to the answer call.")
    timeout_s: float | None = Field(None, gt=0.0, description="Deadline of the answer in seconds.")
    on_empty: Literal["stock", "llm"] = Field("stock", description="Nothing found: the fixed text, or a model's reply.")


class SummarySettings(Section):
    """The rolling summary of long conversations."""

    enabled: bool = Field(False, description="Keep a summary.")
    after_messages: int = Field(14, ge=2, description="Messages from which on a summary is kept.")
    keep_messages: int = Field(8, ge=0, description="The newest messages that are never summarised.")
    min_chars: int = Field(200, ge=0, description="New characters that trigger a refresh.")
    max_chars: int = Field(1200, ge=100, description="Longest summary in characters.")


class CacheSettings(Section):
    """The cache of accepted rewrites."""

    enabled: bool = Field(True, description="Reuse an accepted rewrite of the same prompt.")
    max_entries: int = Field(1024, ge=1, description="Entries kept in process.")
    ttl_s: float = Field(3600.0, gt=0.0, description="Lifetime of an entry in seconds.")
    namespace: str = Field("", description="The tenant; part of every key, and of the rows of the rewrite log.")


class LogSettings(Section):
    """The rewrite log."""

    enabled: bool = Field(False, description="Write one JSON line for each turn.")
    path: OwnFile | None = Field(None, description="The file; none: condense-plus.jsonl in the working directory.")
    content: Literal["full", "hashed", "none"] = Field("full", description="Texts as they are, as hashes, or omitted.")
    redact: bool = Field(True, description="Mask e-mail addresses, phone, identity and card numbers.")
    max_mb: float = Field(50.0, gt=0.0, description="Size at which the file is rotated, in MB.")
    backups: int = Field(5, ge=0, description="Rotated files that are kept.")
    shadow_rate: Share = Field(0.0, description="Share of skipped turns rewritten in the background, 0 to 1.")
