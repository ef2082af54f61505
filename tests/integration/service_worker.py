"""A worker of the example service with a scripted model and a few passages, in a process of its own."""

import os
import re
import sys
from pathlib import Path

import uvicorn
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import TextNode

from llama_index_condense_plus.demo.embedding import NgramEmbedding
from tests.fakes import ScriptedLLM

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "service"))
from app import create_app
from config import ServiceConfig
from parts import build


def echo(messages) -> str:
    """Answer with the number of the turn that was asked last, or summarise."""
    asked = str(messages[-1].content)
    if "<summary>" in asked:
        return "They talked about huts."
    numbers = re.findall(r"number \w+", asked)
    return f"the answer to {numbers[-1] if numbers else 'that'} , in a few words"


def main() -> None:
    """Serve until terminated."""
    config = ServiceConfig()
    delay_s = float(os.environ.get("WORKER_TOKEN_DELAY_S", "0"))
    llm = ScriptedLLM(rewrite="How many people can sleep in Falkner Hut?", answer=echo, token_delay_s=delay_s)
    nodes = [TextNode(text="Falkner Hut is open in summer.", id_="a"), TextNode(text="It has 40 beds.", id_="b")]
    index = VectorStoreIndex(nodes, embed_model=NgramEmbedding())
    app = create_app(config, lambda: build(config, llm, index))
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["SERVICE_PORT"]), log_level="warning")


if __name__ == "__main__":
    main()
