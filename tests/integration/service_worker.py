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

SUMMARY = "They talked about huts."


class WorkerLLM(ScriptedLLM):
    """Speaks slowly when it is asked to, so that a worker can be killed in the middle of an answer."""

    async def astream_chat(self, messages, **kwargs):
        self.token_delay_s = 0.3 if "slowly" in str(messages[-1].content) else 0.003
        return await super().astream_chat(messages, **kwargs)


def echo(messages) -> str:
    """Answer with the number of the turn that was asked last; or summarise, and note the turns that begin with m."""
    asked = str(messages[-1].content)
    if "<summary>" in asked:
        numbers = dict.fromkeys(re.findall(r"number (m\d+)", asked.split("<conversation>")[1]))
        if path := os.environ.get("WORKER_SUMMARY_LOG"):
            with Path(path).open("a", encoding="utf-8") as log:
                log.write(" ".join(numbers) + "\n")
        return SUMMARY
    numbers = re.findall(r"number \w+", asked)
    known = ", by the summary" if any(SUMMARY in str(message.content) for message in messages) else ""
    return f"the answer to {numbers[-1] if numbers else 'that'} , in a few words{known}"


def main() -> None:
    """Serve until terminated."""
    config = ServiceConfig()
    llm = WorkerLLM(rewrite="How many people can sleep in Falkner Hut?", answer=echo)
    nodes = [TextNode(text="Falkner Hut is open in summer.", id_="a"), TextNode(text="It has 40 beds.", id_="b")]
    index = VectorStoreIndex(nodes, embed_model=NgramEmbedding())
    app = create_app(config, lambda: build(config, llm, index))
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["SERVICE_PORT"]), log_level="warning")


if __name__ == "__main__":
    main()
