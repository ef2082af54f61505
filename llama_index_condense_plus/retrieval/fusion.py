"""Merging the lists that a plan's queries found: on copies, by node id, with ties in a fixed order."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from functools import partial

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.protocols import FusionFunction
from llama_index_condense_plus.settings.sections import FusionSettings
from llama_index_condense_plus.types import RankedList

FOUND = 0.5
"""What being found at all counts against the spread of a list's scores: its last node is worth a third of its first."""
DEPTH = 4
"""Nodes that all lists of a turn hold together, as a multiple of ``top_k``."""
LARGEST = 1e100
"""Scores beyond it are no scores."""
PROVENANCE_KEY = "condense_plus_found_by"
"""Metadata key under which provenance is noted on request."""


def reciprocal_rank(lists: Sequence[RankedList], top_k: int, k: float = 60.0) -> list[NodeWithScore]:
    """Fuse by weight / (k + rank) (Cormack, Clarke and Buettcher 2009)."""
    return _merged(lists, top_k, [[1.0 / (k + rank) for rank in range(1, len(ranked.nodes) + 1)] for ranked in lists])


def relative_score(lists: Sequence[RankedList], top_k: int) -> list[NodeWithScore]:
    """Fuse by scores scaled to ⅓ … 1 within each list, 0 for a node it lacks; a list of unusable scores by rank."""
    return _merged(lists, top_k, [_relative(ranked.nodes) for ranked in lists])


def max_score(lists: Sequence[RankedList], top_k: int) -> list[NodeWithScore]:
    """Fuse by the greatest weighted relative score of a node in any list."""
    return _merged(lists, top_k, [_relative(ranked.nodes) for ranked in lists], use_max=True)


FUSION_METHODS: dict[str, FusionFunction] = {
    "relative_score": relative_score,
    "reciprocal_rank": reciprocal_rank,
    "max_score": max_score,
}
"""The fusion methods by name; add a function of your own to make its name valid in ``fusion.method``."""


def fusion_method(settings: FusionSettings) -> FusionFunction:
    """Return the fusion function that the settings name.

    Raises:
        ConfigurationError: there is none of this name.
    """
    if settings.method not in FUSION_METHODS:
        raise ConfigurationError(f"fusion.method: {settings.method!r} is not one of {', '.join(FUSION_METHODS)}.")
    if settings.method == "reciprocal_rank":
        return partial(reciprocal_rank, k=settings.rrf_k)
    return FUSION_METHODS[settings.method]


def fuse(lists: Sequence[RankedList], settings: FusionSettings, top_k: int) -> list[NodeWithScore]:
    """Merge ranked lists into one: copies of the nodes, best first, each id once.

    The order is the fusion's; each node keeps the best score any retriever gave it, so that score cut-offs in
    postprocessors go on working. A single list keeps its order; failed, dropped and empty ones are passed over.

    Args:
        lists: what the queries found; never mutated.
        settings: the ``fusion`` section.
        top_k: most nodes returned.

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
        texts = {node.node.get_content(MetadataMode.NONE).strip() or node.node_id: node for node in reversed(fused)}
        kept = {id(node) for node in texts.values()}
        fused = [node for node in fused if id(node) in kept][:top_k]
    if settings.provenance_metadata:
        fused = [NodeWithScore(node=_copied(found.node), score=found.score) for found in fused]
        _note_provenance(fused, provenance(lists))
    return fused


def candidates(lists: Sequence[RankedList], settings: FusionSettings, top_k: int) -> int:
    """Return how many nodes postprocessors see: the lists' sum, at most four times ``top_k``, unless it is set."""
    found = sum(len(ranked.nodes) for ranked in lists if ranked.used)
    return settings.candidates or max(top_k, min(found, DEPTH * top_k))


def depth(top_k: int, n_queries: int) -> int:
    """Return how many nodes each of a plan's queries asks for: fusion needs to see beyond ``top_k``."""
    return top_k if n_queries == 1 else max(top_k, min(2 * top_k, DEPTH * top_k // n_queries))


def provenance(lists: Sequence[RankedList]) -> dict[str, tuple[str, ...]]:
    """Return by node id where it was found: ``original#2``, ``faq:original#2`` or ``rewritten+original#1``."""
    places: dict[str, dict[int, str]] = {}
    for index, ranked in enumerate(lists):
        roles = "+".join(query.role.value for query in (ranked.query, *ranked.blended))
        name = f"{ranked.source}:{roles}" if ranked.source else roles
        for rank, node in enumerate(ranked.nodes if ranked.used else (), 1):
            places.setdefault(node.node_id, {}).setdefault(index, f"{name}#{rank}")
    return {node_id: tuple(found.values()) for node_id, found in places.items()}


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


def _by_rank(count: int) -> list[float]:
    return [1.0 - rank / count for rank in range(count)]


def _usable_scores(nodes: Sequence[NodeWithScore]) -> list[float] | None:
    """Return a list's scores, or None if they cannot be compared: missing, no number, all equal or rising with rank."""
    scores = [node.score for node in nodes if node.score is not None and abs(node.score) < LARGEST]
    if len(scores) < len(nodes) or any(later > earlier for earlier, later in itertools.pairwise(scores)):
        return None
    return scores if scores and scores[0] > scores[-1] else None


def _relative(nodes: Sequence[NodeWithScore]) -> list[float]:
    scores = _usable_scores(nodes)
    if scores is None:
        return _by_rank(len(nodes))
    low, span = scores[-1], scores[0] - scores[-1]
    # to 0 … 1, a list's last node would count no more than one it lacks, and a third of what fusion gains is lost
    return [((score - low) / span + FOUND) / (1 + FOUND) for score in scores]


def _copied(node: BaseNode) -> BaseNode:
    """Return a shallow copy whose text and metadata a postprocessor may change."""
    clone = copy.copy(node)
    vars(clone)["metadata"] = dict(node.metadata)  # as model_copy does: what was validated once is not validated again
    return clone


def _note_provenance(nodes: Sequence[NodeWithScore], places: dict[str, tuple[str, ...]]) -> None:
    for found in nodes:
        node = found.node
        node.metadata[PROVENANCE_KEY] = list(places.get(found.node_id, ()))
        node.excluded_llm_metadata_keys = [*node.excluded_llm_metadata_keys, PROVENANCE_KEY]
        node.excluded_embed_metadata_keys = [*node.excluded_embed_metadata_keys, PROVENANCE_KEY]
