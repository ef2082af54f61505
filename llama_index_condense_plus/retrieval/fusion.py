"""Merging the lists that a plan's queries found: on copies, by node id, with ties in a fixed order."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.protocols import FusionFunction
from llama_index_condense_plus.settings.sections import FusionSettings
from llama_index_condense_plus.types import QueryRole, RankedList

FOUND = 0.5
"""What being found at all counts against the spread of a list's scores: its last node is worth a third of its first."""
DEPTH = 4
"""Nodes that all lists of a turn hold together, as a multiple of ``top_k``."""
PROVENANCE_KEY = "condense_plus_found_by"
"""Metadata key under which provenance is noted on request."""


@dataclass(frozen=True, slots=True)
class Found:
    """One place where a node was found."""

    query: int
    """Index of the query's list."""
    role: QueryRole
    """The query's role."""
    rank: int
    """Rank in the list, from 1."""
    source: str = ""
    """The retriever's name, where there are several."""

    def __str__(self) -> str:
        """Return for example ``original#2`` or ``faq:original#2``."""
        return f"{self.source}{':' if self.source else ''}{self.role.value}#{self.rank}"


LARGEST = 1e100
"""Scores beyond it are no scores, and their squares would overflow."""


def usable_scores(nodes: Sequence[NodeWithScore]) -> list[float] | None:
    """Return the scores of a list, or None if they cannot be compared: missing, no number, or rising with rank."""
    scores = [node.score for node in nodes if node.score is not None and abs(node.score) < LARGEST]
    if len(scores) < len(nodes) or any(later > earlier for earlier, later in itertools.pairwise(scores)):
        return None
    return scores


def _by_rank(count: int) -> list[float]:
    return [1.0 - rank / count for rank in range(count)]


def reciprocal_rank(lists: Sequence[RankedList], top_k: int, k: float = 60.0) -> list[NodeWithScore]:
    """Fuse by weight / (k + rank) (Cormack, Clarke and Buettcher 2009)."""
    return _merged(lists, top_k, [[1.0 / (k + rank) for rank in range(1, len(ranked.nodes) + 1)] for ranked in lists])


def relative_score(lists: Sequence[RankedList], top_k: int) -> list[NodeWithScore]:
    """Fuse by scores scaled to ⅓ … 1 within each list, 0 for a node it lacks; a list of unusable scores by rank.

    Scaling to 0 … 1 would make a list's last node worth no more than one that was not found: on lists of 5 to 20 that
    loses a third of what fusion gains.
    """
    return _merged(lists, top_k, [_relative(ranked.nodes) for ranked in lists])


def dist_based_score(lists: Sequence[RankedList], top_k: int) -> list[NodeWithScore]:
    """Fuse by scores scaled so that mean − 3 standard deviations is 0 and mean + 3 is 1, within each list."""
    return _merged(lists, top_k, [_dist_based(ranked.nodes) for ranked in lists])


def max_score(lists: Sequence[RankedList], top_k: int) -> list[NodeWithScore]:
    """Fuse by the greatest weighted relative score of a node in any list."""
    return _merged(lists, top_k, [_relative(ranked.nodes) for ranked in lists], use_max=True)


FUSION_METHODS: dict[str, FusionFunction] = {
    "relative_score": relative_score,
    "reciprocal_rank": reciprocal_rank,
    "dist_based_score": dist_based_score,
    "max_score": max_score,
}
"""The fusion methods by name; add a function of your own to make its name valid in ``fusion.method``."""


def fuse(lists: Sequence[RankedList], settings: FusionSettings, top_k: int) -> list[NodeWithScore]:
    """Merge ranked lists into one.

    The order is the fusion's; each node keeps the best score any retriever gave it, so that score cut-offs in
    postprocessors go on working. A single list keeps its order.

    Args:
        lists: what the queries found; never mutated. Failed, dropped and empty lists are passed over.
        settings: the ``fusion`` section.
        top_k: most nodes returned.

    Returns:
        Copies of the nodes, best first, each node id once.

    Raises:
        ConfigurationError: the method is unknown.
    """
    method = fusion_method(settings)
    found = [ranked for ranked in lists if ranked.used and ranked.nodes]
    wanted = sum(len(ranked.nodes) for ranked in found) if settings.dedupe_text else top_k
    if len(found) == 1:
        fused = _merged(found, wanted, [_by_rank(len(found[0].nodes))])
    else:
        fused = method(found, wanted) if found else []
    if settings.dedupe_text:
        fused = _distinct_texts(fused)[:top_k]
    return _with_provenance(fused, provenance(lists)) if settings.provenance_metadata else fused


def fusion_method(settings: FusionSettings) -> FusionFunction:
    """Return the fusion function that the settings name.

    Raises:
        ConfigurationError: there is none of this name.
    """
    if settings.method not in FUSION_METHODS:
        raise ConfigurationError(f"Option fusion.method: {settings.method!r} is none of {', '.join(FUSION_METHODS)}.")
    if settings.method == "reciprocal_rank":
        return partial(reciprocal_rank, k=settings.rrf_k)
    return FUSION_METHODS[settings.method]


def candidates(lists: Sequence[RankedList], settings: FusionSettings, top_k: int) -> int:
    """Return how many nodes postprocessors see: the lists' sum, at most four times ``top_k``, unless it is set."""
    found = sum(len(ranked.nodes) for ranked in lists if ranked.used)
    return settings.candidates or max(top_k, min(found, DEPTH * top_k))


def depth(top_k: int, n_queries: int) -> int:
    """Return how many nodes each of a plan's queries asks for: fusion needs to see beyond ``top_k``.

    Two lists of twice ``top_k`` hold no more than four times ``top_k`` nodes, and so do more lists of fewer.
    """
    return top_k if n_queries == 1 else max(top_k, min(2 * top_k, DEPTH * top_k // n_queries))


def provenance(lists: Sequence[RankedList]) -> dict[str, tuple[Found, ...]]:
    """Return for each node id which lists it was found in, and at which ranks."""
    places: dict[str, list[Found]] = {}
    for index, ranked in enumerate(lists):
        if not ranked.used:
            continue
        seen: set[str] = set()
        for rank, node in enumerate(ranked.nodes, 1):
            if node.node_id not in seen:
                seen.add(node.node_id)
                places.setdefault(node.node_id, []).append(Found(index, ranked.query.role, rank, ranked.source))
    return {node_id: tuple(found) for node_id, found in places.items()}


def _merged(
    lists: Sequence[RankedList], top_k: int, scores: Sequence[Sequence[float]], *, use_max: bool = False
) -> list[NodeWithScore]:
    """Add up weighted scores by node id; ties go to the node that came first in the first list."""
    fused: dict[str, float] = {}
    first: dict[str, BaseNode] = {}
    best: dict[str, float | None] = {}
    for ranked, values in zip(lists, scores, strict=True):
        weight, seen = ranked.query.weight, set()
        for found, value in zip(ranked.nodes, values, strict=True):
            node_id, score = found.node.node_id, found.score
            if node_id not in first:
                first[node_id], fused[node_id], best[node_id] = found.node, 0.0, None
            known = best[node_id]
            if score is not None and score == score and (known is None or score > known):  # noqa: PLR0124 - not NaN
                best[node_id] = score
            if node_id not in seen:
                seen.add(node_id)
                fused[node_id] = max(fused[node_id], weight * value) if use_max else fused[node_id] + weight * value
    order = sorted(fused, key=fused.__getitem__, reverse=True)  # stable: ties stay in the order of their insertion
    return [NodeWithScore(node=_copied(first[node_id]), score=best[node_id]) for node_id in order[:top_k]]


def _relative(nodes: Sequence[NodeWithScore]) -> list[float]:
    scores = usable_scores(nodes)
    if scores is None or scores[0] == scores[-1]:
        return _by_rank(len(nodes))
    low, span = scores[-1], scores[0] - scores[-1]
    return [((score - low) / span + FOUND) / (1 + FOUND) for score in scores]


def _dist_based(nodes: Sequence[NodeWithScore]) -> list[float]:
    scores = usable_scores(nodes) or [0.0]
    mean = sum(scores) / len(scores)
    spread = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    if spread == 0:
        return _by_rank(len(nodes))
    low = mean - 3 * spread
    return [(score - low) / (6 * spread) for score in scores]


def _copied(node: BaseNode) -> BaseNode:
    """Return a shallow copy whose text and metadata a postprocessor may change."""
    clone = copy.copy(node)
    vars(clone)["metadata"] = dict(node.metadata)  # as model_copy does: what was validated once is not validated again
    return clone


def _distinct_texts(nodes: list[NodeWithScore]) -> list[NodeWithScore]:
    kept: dict[str, NodeWithScore] = {}
    for node in nodes:
        kept.setdefault(node.node.get_content(MetadataMode.NONE).strip() or node.node_id, node)
    return list(kept.values())


def _with_provenance(nodes: Sequence[NodeWithScore], places: dict[str, tuple[Found, ...]]) -> list[NodeWithScore]:
    noted = []
    for found in nodes:
        node = _copied(found.node)
        node.metadata[PROVENANCE_KEY] = [str(place) for place in places.get(found.node_id, ())]
        node.excluded_llm_metadata_keys = [*node.excluded_llm_metadata_keys, PROVENANCE_KEY]
        node.excluded_embed_metadata_keys = [*node.excluded_embed_metadata_keys, PROVENANCE_KEY]
        noted.append(NodeWithScore(node=node, score=found.score))
    return noted
