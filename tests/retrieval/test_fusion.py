"""Fusion: order, ties, scores that cannot be compared, copies and provenance."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.schema import MetadataMode

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.retrieval.fusion import (
    FUSION_METHODS,
    PROVENANCE_KEY,
    candidates,
    depth,
    fuse,
    provenance,
)
from llama_index_condense_plus.settings.sections import FusionSettings
from llama_index_condense_plus.types import QueryRole
from tests.retrieval.parts import node, ranked

METHODS = sorted(FUSION_METHODS)


def ids(lists, method="relative_score", top_k=10, **options):
    return [found.node_id for found in fuse(lists, FusionSettings(method=method, **options), top_k)]


@pytest.mark.parametrize("method", METHODS)
def test_fuse_puts_the_node_that_both_lists_lead_with_first(method):
    lists = [
        ranked(node("a", 3), node("b", 2), node("c", 1)),
        ranked(node("a", 9), node("d", 5), node("e", 1), weight=0.5),
    ]
    assert ids(lists, method)[0] == "a"
    assert sorted(ids(lists, method)) == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("method", ["relative_score", "reciprocal_rank"])
def test_fuse_lifts_a_node_found_by_both_queries(method):
    lists = [ranked(node("a", 3), node("b", 2.9), node("c", 2.8)), ranked(node("c", 9), node("d", 5), weight=0.9)]
    assert ids(lists, method)[0] == "c"


def test_relative_score_counts_the_last_node_of_a_list_as_found():
    lists = [ranked(node("a", 3), node("b", 2), node("c", 1)), ranked(node("d", 3), node("c", 1), weight=0.3)]
    assert ids(lists).index("c") < ids(lists).index("d")


def test_reciprocal_rank_uses_the_configured_constant():
    lists = [ranked(node("a", 3), node("b", 2)), ranked(node("c", 2), node("b", 1), weight=0.9)]
    assert ids(lists, "reciprocal_rank", rrf_k=0.001) != ids(lists, "reciprocal_rank", rrf_k=60)


@pytest.mark.parametrize("method", METHODS)
def test_fuse_breaks_ties_by_list_then_rank(method):
    lists = [ranked(node("a", 1.0)), ranked(node("b", 1.0)), ranked(node("c", 1.0))]
    assert ids(lists, method) == ["a", "b", "c"]
    assert ids(lists, method) == ids(lists, method)


@pytest.mark.parametrize("method", METHODS)
def test_fuse_keeps_the_best_retrieval_score_of_each_node(method):
    lists = [ranked(node("a", 0.2), node("b", 0.1)), ranked(node("b", 0.8), node("a", 0.3), weight=0.5)]
    assert {n.node_id: n.score for n in fuse(lists, FusionSettings(method=method), 5)} == {"a": 0.3, "b": 0.8}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "scores",
    [
        (None, None, None),
        (math.nan, 2.0, 1.0),
        (3.0, None, 1.0),
        (-1.0, -2.0, -30.0),
        (0.1, 0.2, 0.9),
        (0.0, 0.0, 0.0),
        (math.inf, 1.0, -math.inf),
    ],
)
def test_fuse_keeps_a_lists_order_whatever_its_scores(method, scores):
    odd = ranked(*(node(name, score) for name, score in zip("abc", scores, strict=True)))
    other = ranked(node("x", 5.0), node("y", 4.0), weight=0.1)
    order = [name for name in ids([odd, other], method) if name in "abc"]
    assert order == ["a", "b", "c"]


def test_fuse_never_prefers_nan_or_none_as_best_score():
    lists = [ranked(node("a", math.nan), node("b", None)), ranked(node("a", -0.5), node("b", None))]
    best = {n.node_id: n.score for n in fuse(lists, FusionSettings(), 5)}
    assert best == {"a": -0.5, "b": None}


@pytest.mark.parametrize("method", METHODS)
def test_fuse_passes_over_empty_dropped_and_missing_lists(method):
    assert ids([], method) == []
    assert ids([ranked(), ranked(node("a", 1.0)), ranked(node("z", 9.0), used=False)], method) == ["a"]


def test_fuse_keeps_the_order_of_a_single_list():
    assert ids([ranked(node("a", 0.1), node("b", 0.9), node("c", None))]) == ["a", "b", "c"]


def test_fuse_takes_the_first_text_of_a_duplicate_id():
    lists = [ranked(node("a", 1.0, "first")), ranked(node("a", 2.0, "second"), node("a", 1.5, "third"))]
    fused = fuse(lists, FusionSettings(), 5)
    assert [(n.node_id, n.text, n.score) for n in fused] == [("a", "first", 2.0)]


def test_fuse_counts_an_id_once_in_a_list():
    lists = [ranked(node("a", 3.0), node("a", 2.9), node("b", 1.0)), ranked(node("b", 1.0), node("c", 0.9))]
    assert ids(lists)[0] == "b"


def test_fuse_returns_copies_so_that_shared_nodes_stay_as_they_are():
    shared = node("a", 0.5)
    shared.node.metadata["page"] = 1
    fused = fuse([ranked(shared), ranked(node("b", 1.0))], FusionSettings(provenance_metadata=True), 5)
    copy = next(n for n in fused if n.node_id == "a")
    copy.score = 9.0
    copy.node.metadata["page"] = 2
    copy.node.set_content("changed")
    assert (shared.score, shared.node.metadata, shared.node.text) == (0.5, {"page": 1}, "text of a")
    assert shared.node.excluded_llm_metadata_keys == []


def test_fuse_merges_equal_texts_on_request():
    lists = [ranked(node("a", 2.0, "same "), node("b", 1.0, "other")), ranked(node("c", 2.0, "same"))]
    assert ids(lists, dedupe_text=True) == ["a", "b"]
    assert sorted(ids(lists)) == ["a", "b", "c"]


def test_provenance_tells_query_role_rank_and_source():
    lists = [
        ranked(node("a", 1.0), node("b", 0.9), source="faq"),
        ranked(node("b", 1.0), role=QueryRole.ORIGINAL),
        ranked(node("b", 1.0), used=False),
    ]
    places = provenance(lists)
    assert places["b"] == ("faq:rewritten#2", "original#1")


def test_provenance_metadata_is_kept_from_model_and_embedding():
    fused = fuse([ranked(node("a", 1.0))], FusionSettings(provenance_metadata=True), 5)
    assert fused[0].node.metadata[PROVENANCE_KEY] == ["rewritten#1"]
    assert PROVENANCE_KEY not in fused[0].node.get_content(MetadataMode.LLM)
    assert PROVENANCE_KEY not in fused[0].node.get_content(MetadataMode.EMBED)


def test_fuse_refuses_an_unknown_method_by_name():
    with pytest.raises(ConfigurationError, match=r"fusion\.method.*borda.*reciprocal_rank"):
        fuse([ranked(node("a", 1.0))], FusionSettings(method="borda"), 5)


def test_fuse_takes_a_function_of_the_users_own(monkeypatch):
    monkeypatch.setitem(FUSION_METHODS, "last", lambda lists, top_k: list(lists[-1].nodes)[:top_k])
    assert ids([ranked(node("a", 1.0)), ranked(node("b", 1.0))], "last") == ["b"]


def test_candidates_is_the_sum_of_the_lists_up_to_four_times_top_k():
    lists = [ranked(*(node(f"{i}{j}", 1.0) for j in range(6))) for i in range(4)]
    assert candidates(lists[:2], FusionSettings(), 5) == 12
    assert candidates(lists, FusionSettings(), 5) == 20
    assert candidates(lists, FusionSettings(candidates=7), 5) == 7


SCORES = st.one_of(st.none(), st.floats())
LISTS = st.lists(st.lists(st.tuples(st.sampled_from("abcdefgh"), SCORES), max_size=8), max_size=4)


@given(LISTS, st.sampled_from(METHODS), st.integers(1, 9), st.booleans())
def test_fuse_holds_its_promises_for_any_lists(drawn, method, top_k, dedupe):
    lists = [ranked(*(node(name, score) for name, score in found), weight=0.7) for found in drawn]
    before = [[(n.node_id, repr(n.score)) for n in one.nodes] for one in lists]
    fused = fuse(lists, FusionSettings(method=method, dedupe_text=dedupe), top_k)
    names = [n.node_id for n in fused]
    everything = {name for one in drawn for name, _ in one}
    assert len(names) == len(set(names)) == min(top_k, len(everything))
    assert set(names) <= everything
    assert [[(n.node_id, repr(n.score)) for n in one.nodes] for one in lists] == before


@pytest.mark.parametrize(
    ("method", "scores", "worth"),
    [
        ("relative_score", (3, 2, 1), (1.0, 2 / 3, 1 / 3)),
        ("relative_score", (8, 8), (1.0, 0.5)),  # equal scores say nothing: by rank
        ("relative_score", (None, None, None, None), (1.0, 0.75, 0.5, 0.25)),
        ("relative_score", (1, 2, 3, 4), (1.0, 0.75, 0.5, 0.25)),  # distances, which rise with rank
        ("relative_score", (1e200, 1), (1.0, 0.5)),
        ("max_score", (3, 2, 1), (1.0, 2 / 3, 1 / 3)),
        ("reciprocal_rank", (9, 8, 7), (1.0, 61 / 62, 61 / 63)),  # 1 / (60 + rank)
    ],
)
def test_fusion_method_gives_each_rank_its_published_worth(method, scores, worth):
    """The worth of a node is measured by the weight at which another list's only node overtakes it."""
    measured = [node(str(rank), score) for rank, score in enumerate(scores)]
    for rank, value in enumerate(worth):
        for factor, first in ((0.9999, str(rank)), (1.0001, "x0")):
            rival = ranked(node("x0", 1.0), weight=value * factor)
            order = [n.node_id for n in FUSION_METHODS[method]([ranked(*measured), rival], 10)]
            assert next(name for name in order if name in {str(rank), "x0"}) == first


def test_max_score_takes_the_best_list_where_others_add_up():
    lists = [ranked(node("a", 3), node("b", 2.9), node("c", 1)), ranked(node("d", 3), node("b", 2.9), node("e", 1))]
    assert ids(lists, "relative_score")[0] == "b"
    assert ids(lists, "max_score")[:3] == ["a", "d", "b"]


def test_fuse_fills_top_k_after_merging_equal_texts_whatever_their_metadata():
    twin = node("b", 3, "same")
    twin.node.metadata["page"] = 7
    lists = [ranked(node("a", 4, "same"), twin, node("c", 1, "other")), ranked(node("d", 1, "same"))]
    assert ids(lists, top_k=2, dedupe_text=True) == ["a", "c"]
    assert ids([ranked(node("a", 2, " "), node("b", 1, ""))], dedupe_text=True) == ["a", "b"]  # no text is not equal


def test_provenance_tells_the_best_rank_of_a_repeated_node():
    assert provenance([ranked(node("a"), node("b"), node("a"))])["a"] == ("rewritten#1",)


def test_candidates_counts_used_lists_only_and_never_less_than_top_k():
    lists = [ranked(node("a", 1.0)), ranked(*(node(str(i), 1.0) for i in range(9)), used=False)]
    assert candidates(lists, FusionSettings(), 3) == 3


def test_depth_is_twice_top_k_for_two_queries_and_less_for_more():
    assert [depth(5, queries) for queries in (1, 2, 3, 4, 16)] == [5, 10, 6, 5, 5]
