import asyncio

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from llama_index_condense_plus.demo.quoting import QuoteSynthesizer

PASSAGES = ["婚假给十天，领证后一年内休完。 Two words,\n1. and a list ", "another"]
NODES = [NodeWithScore(node=TextNode(text=text)) for text in PASSAGES]


@pytest.mark.parametrize("streaming", [False, True])
def test_quote_synthesizer_quotes_the_first_passage(streaming):
    response = QuoteSynthesizer(streaming=streaming).synthesize("which?", NODES)
    assert str(response) == PASSAGES[0]
    assert response.source_nodes == NODES


@pytest.mark.parametrize("streaming", [False, True])
def test_quote_synthesizer_quotes_the_first_passage_asynchronously(streaming):
    async def answer():
        response = await QuoteSynthesizer(streaming=streaming).asynthesize("which?", NODES)
        return "".join([piece async for piece in response.async_response_gen()]) if streaming else str(response)

    assert asyncio.run(answer()) == PASSAGES[0]


def test_quote_synthesizer_streams_more_than_one_piece():
    response = QuoteSynthesizer(streaming=True).synthesize("which?", NODES)
    assert len(list(response.response_gen)) > 1


def test_quote_synthesizer_without_passages_gives_the_fixed_text():
    assert str(QuoteSynthesizer().synthesize("which?", [])) == "Empty Response"
