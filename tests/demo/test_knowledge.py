import pytest

from llama_index_condense_plus.demo.embedding import NgramEmbedding
from llama_index_condense_plus.demo.knowledge import (
    build_index,
    demo_conversations,
    demo_passages,
    folder_passages,
    source_of,
)
from llama_index_condense_plus.errors import ConfigurationError


def test_demo_passages_have_names_of_their_own():
    names = [source_of(node) for node in demo_passages()]
    assert len(names) == len(set(names)) > 24


def test_demo_conversations_ask_for_passages_that_exist():
    names = {source_of(node) for node in demo_passages()}
    conversations = demo_conversations()
    assert [turns[0].lang for turns in conversations] == ["en", "en", "zh", "zh"]
    for turns in conversations:
        assert {turn.gold for turn in turns if turn.gold} <= names
        assert not turns[0].is_follow_up
    kinds = {turn.kind for turns in conversations for turn in turns}
    assert {"pronoun", "ellipsis", "ordinal", "remark", "correction", "thanks"} <= kinds


def test_folder_passages_reads_text_in_sub_folders_and_both_chinese_encodings(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text("# Title\n\nWords of a file.", encoding="utf-8")
    (tmp_path / "b.txt").write_bytes("婚假给十天。".encode("gb18030"))
    (tmp_path / ".hidden.txt").write_text("secret")
    seen = []
    nodes = folder_passages(tmp_path, lambda done, total: seen.append((done, total)))
    assert {source_of(node): node.get_content() for node in nodes} == {
        "b.txt#1": "婚假给十天。",
        "sub/a.md#1": "# Title\n\nWords of a file.",
    }
    assert seen == [(1, 2), (2, 2)]


def test_folder_passages_cuts_long_files(tmp_path):
    (tmp_path / "long.txt").write_text("A sentence of several words. " * 400)
    assert len(folder_passages(tmp_path)) > 5


def test_folder_passages_skips_other_files_with_a_warning(tmp_path, caplog):
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4")
    assert len(folder_passages(tmp_path)) == 1
    assert "b.pdf" in caplog.text


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_folder_passages_refuses_a_folder_without_text(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match=name):
        folder_passages(tmp_path / name)


def test_build_index_keeps_names_and_words(tmp_path):
    nodes = demo_passages()[:5]
    seen = []
    index = build_index(nodes, NgramEmbedding(embed_batch_size=2), tmp_path, lambda done, total: seen.append(done))
    found = index.as_retriever(similarity_top_k=1).retrieve(nodes[3].get_content())
    assert source_of(found[0].node) == source_of(nodes[3])
    assert found[0].node.get_content() == nodes[3].get_content()
    assert seen == [2, 4, 5]
    index.vector_store.client.close()


def test_build_index_embeds_only_what_is_new(tmp_path):
    nodes = demo_passages()[:5]
    store = tmp_path / "store"
    build_index(nodes, NgramEmbedding(), store).vector_store.client.close()
    seen = []
    index = build_index(nodes[1:] + demo_passages()[5:6], NgramEmbedding(), store, lambda done, _: seen.append(done))
    found = index.as_retriever(similarity_top_k=10).retrieve(nodes[0].get_content())
    index.vector_store.client.close()
    assert seen == [1]
    assert {source_of(node.node) for node in found} == {source_of(node) for node in demo_passages()[1:6]}
