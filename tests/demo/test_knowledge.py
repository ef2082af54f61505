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
    assert [turns[0]["conversation"][:2] for turns in conversations] == ["en", "en", "zh", "zh"]
    for turns in conversations:
        assert {turn["gold"] for turn in turns if turn["gold"]} <= names
        assert turns[0]["kind"] == "first"
    kinds = {turn["kind"] for turns in conversations for turn in turns}
    assert {"pronoun", "ellipsis", "ordinal", "remark", "correction", "thanks"} <= kinds


def test_folder_passages_reads_text_in_sub_folders_and_both_chinese_encodings(tmp_path, caplog):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text("# Title\n\nWords of a file.", encoding="utf-8")
    (tmp_path / "b.txt").write_bytes("婚假给十天。".encode("gb18030"))
    (tmp_path / ".hidden.txt").write_text("secret")
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.4")
    nodes = folder_passages(tmp_path)
    assert {source_of(node): node.get_content() for node in nodes} == {
        "b.txt#1": "婚假给十天。",
        "sub/a.md#1": "# Title\n\nWords of a file.",
    }
    assert "c.pdf" in caplog.text


def test_folder_passages_cuts_long_files(tmp_path):
    (tmp_path / "long.txt").write_text("A sentence of several words. " * 400)
    assert len(folder_passages(tmp_path)) > 5


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_folder_passages_refuses_a_folder_without_text(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match=name):
        folder_passages(tmp_path / name)


def test_build_index_keeps_names_and_words_and_embeds_only_what_is_new(tmp_path, monkeypatch):
    nodes = demo_passages()[:6]
    build_index(nodes[:5], NgramEmbedding(), tmp_path).vector_store.client.close()
    embedded = []
    embed = NgramEmbedding._get_text_embedding
    monkeypatch.setattr(NgramEmbedding, "_get_text_embedding", lambda *args: embedded.append(args[1]) or embed(*args))
    index = build_index(nodes[1:], NgramEmbedding(), tmp_path)
    assert embedded == [nodes[5].get_content()]
    found = index.as_retriever(similarity_top_k=10).retrieve(nodes[3].get_content())
    index.vector_store.client.close()
    assert found[0].node.get_content() == nodes[3].get_content()
    assert {source_of(node.node) for node in found} == {source_of(node) for node in nodes[1:]}
