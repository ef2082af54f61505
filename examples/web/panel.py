"""The debug panel: chat on the left, and on the right what was searched in each turn, and why.

python examples/web/panel.py
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from inspect import isgeneratorfunction
from pathlib import Path
from typing import Any

import gradio as gr
from layout import TOGGLES, widgets
from llama_index.core import VectorStoreIndex
from markup import comparison_html, note_html, turn_html
from session import Asked, Parts, Session, Toggles
from views import Passage, tried_by_hand
from wording import preferred, words

from llama_index_condense_plus import CondensePlusError
from llama_index_condense_plus.demo.embedding import load_embedding
from llama_index_condense_plus.demo.knowledge import demo_conversations, demo_passages
from llama_index_condense_plus.demo.models import ModelChoice

CSS = Path(__file__).with_name("panel.css")
THEME = gr.themes.Default(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"])
"""No web fonts: the panel works without a network."""
SHOWN_QUESTIONS = 4
"""Scripted questions that the panel offers."""
LABELLED = ("chat", "message", "turn", "instead", "settings", "scripted", *TOGGLES)
"""Widgets whose label is in the panel's words under their name."""
BUTTONS = ("send", "reset", "search", "replay", "stock")
PLACE = ("turn", "language", "session")
"""Inputs that say which turn is looked at, and in which language."""
Changes = dict[str, Any]
"""New values and properties of widgets, by name."""


class Panel:
    """What happens when the widgets are used.

    Args:
        parts: the engine and what it searches.
        model: name of the language model, empty if there is none.
    """

    def __init__(self, parts: Parts, model: str = "") -> None:
        self._parts = parts
        self._model = model

    def build(self) -> gr.Blocks:
        """Return the page."""
        with gr.Blocks(title="condense-plus", analytics_enabled=False, fill_width=True) as page:
            made = widgets(_questions("en"))

            def on(event: Any, handler: Callable[..., Any], inputs: Sequence[str] = ()) -> Any:
                named = [made[name] for name in inputs]
                return event(_by_widget(handler, made), named, list(made.values()), show_progress="hidden")

            asking = (self.ask, ("message", "language", "session", "chat", *TOGGLES))
            on(page.load, self.greet)
            on(made["language"].input, self.speak, PLACE)
            on(made["message"].submit, *asking)
            on(made["send"].click, *asking)
            on(on(made["scripted"].click, self.fill, ("scripted",)).then, *asking)
            on(made["turn"].input, self.show, PLACE)
            on(made["replay"].click, self.replay, (*PLACE, *TOGGLES))
            on(made["search"].click, self.instead, (*PLACE, "instead", *TOGGLES))
            on(made["instead"].submit, self.instead, (*PLACE, "instead", *TOGGLES))
            on(made["stock"].click, self.stock, PLACE)
            for emptied in (made["reset"].click, made["chat"].clear):
                on(emptied, self.reset, ("language",))
        return page

    def greet(self, request: gr.Request) -> Changes:
        """Begin in the browser's language."""
        code = preferred(request.headers.get("accept-language", ""))
        return {"language": code, **self.speak(None, code, None)}

    def speak(self, number: int | None, code: str, session: Session | None) -> Changes:
        """Put every word of the page into a language."""
        say = words(code)
        about = say["model"].format(name=self._model) if self._model else say["no_model"]
        told: Changes = {name: gr.update(label=say[name]) for name in LABELLED}
        told |= {name: gr.update(value=say[name]) for name in BUTTONS}
        told |= {name: gr.update(label=say[name], placeholder=say[f"{name}_hint"]) for name in ("message", "instead")}
        told["scripted"] = gr.update(label=say["scripted"], samples=_questions(code))
        told["title"] = f"### {say['title']}\n{about}"
        return {**told, "view": _shown(number, code, session), "compared": ""}

    def fill(self, sample: list[str]) -> Changes:
        """Take a scripted question as the message."""
        return {"message": sample[0]}

    def ask(self, text: str, code: str, session: Session | None, chat: list[Any], *values: Any) -> Iterator[Changes]:
        """Answer a message as it streams, then show its turn."""
        if not text.strip():
            return
        session = session or Session(self._parts)
        chat = [*chat, {"role": "user", "content": text}]
        yield {"message": "", "chat": [*chat, _said("…")], "session": session}
        try:
            for growing in session.ask(text, _toggles(values)):
                yield {"chat": [*chat, _said(growing)]}
        except CondensePlusError as error:
            yield {"chat": [*chat, _said(words(code)["failed"].format(error=error))]}
            return
        numbers = list(range(1, len(session.turns) + 1))
        yield {
            "turn": gr.update(choices=numbers, value=numbers[-1]),
            **self.show(numbers[-1], code, session),
        }

    def show(self, number: int | None, code: str, session: Session | None) -> Changes:
        """Show a turn."""
        asked = _asked(number, session)
        query = asked.view.query if asked else ""
        return {"view": _shown(number, code, session), "instead": query, "compared": ""}

    def replay(self, number: int | None, code: str, session: Session | None, *values: Any) -> Changes:
        """Show the turn as it would be with the settings on the left."""
        asked = _asked(number, session)
        if session is None or asked is None:
            return _note(code, "nothing")
        other = session.replay(asked, _toggles(values))
        beside = _beside(asked, "replayed", other.query, other.passages, code)
        return {"compared": beside + turn_html(other, words(code))}

    def instead(self, number: int | None, code: str, session: Session | None, text: str, *values: Any) -> Changes:
        """Show what a question completed by hand finds in the turn."""
        asked = _asked(number, session)
        if session is None or asked is None:
            return _note(code, "nothing")
        if not text.strip():
            return _note(code, "needs_text")
        other = session.instead(asked, text.strip(), _toggles(values))
        shown = turn_html(tried_by_hand(asked.view, other.passages), words(code))
        return {"view": shown, "compared": _beside(asked, "by_hand", other.query, other.passages, code)}

    def stock(self, number: int | None, code: str, session: Session | None) -> Changes:
        """Show what the stock engine finds in the turn; without a model, that it cannot."""
        if self._parts.llm is None:
            return _note(code, "needs_model")
        asked = _asked(number, session)
        if session is None or asked is None:
            return _note(code, "nothing")
        return {"compared": _beside(asked, "stock_engine", *session.stock(asked), code)}

    def reset(self, code: str) -> Changes:
        """Begin a new conversation."""
        cleared: Changes = dict.fromkeys(("message", "instead", "compared"), "")
        turns = gr.update(choices=[], value=None)
        return {**cleared, "session": None, "chat": [], "turn": turns, "view": _shown(None, code, None)}


def _by_widget(handler: Callable[..., Any], made: dict[str, Any]) -> Callable[..., Any]:
    """Return a handler whose changes Gradio understands: by widget in place of by name."""

    def changed(changes: Changes) -> dict[Any, Any]:
        return {made[name]: change for name, change in changes.items()}

    def stream(*values: Any) -> Iterator[dict[Any, Any]]:
        yield from map(changed, handler(*values))

    def once(*values: Any) -> dict[Any, Any]:
        return changed(handler(*values))

    def with_request(request: gr.Request) -> dict[Any, Any]:
        return changed(handler(request))

    if handler.__name__ == "greet":
        return with_request
    return stream if isgeneratorfunction(handler) else once


def _toggles(values: Sequence[Any]) -> Toggles:
    return Toggles(**dict(zip(TOGGLES, values, strict=True)))


def _asked(number: int | None, session: Session | None) -> Asked | None:
    return session.turns[number - 1] if session and number else None


def _shown(number: int | None, code: str, session: Session | None) -> str:
    asked = _asked(number, session)
    return turn_html(asked.view, words(code)) if asked else note_html(words(code)["nothing"])


def _beside(asked: Asked, label: str, query: str, passages: Sequence[Passage], code: str) -> str:
    say = words(code)
    return comparison_html(asked.view, say[label], query, passages, say)


def _note(code: str, key: str) -> Changes:
    return {"compared": note_html(words(code)[key])}


def _said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def _questions(code: str) -> list[list[str]]:
    turns = next(turns for turns in demo_conversations() if turns[0].lang == code)
    return [[turn.question] for turn in turns[:SHOWN_QUESTIONS]]


def launch(panel: Panel, port: int | None = None, *, block: bool = True) -> tuple[gr.Blocks, str]:
    """Serve the panel on this machine; return the page and its address.

    Args:
        panel: what is served.
        port: where; None: the first free port from 7860.
        block: False: return while it is served.
    """
    page = panel.build()
    _, address, _ = page.launch(
        server_port=port, prevent_thread_lock=not block, quiet=not block, theme=THEME, css_paths=CSS, footer_links=[]
    )
    return page, address


def main() -> None:
    """Run the panel over the demo's passages."""
    parser = argparse.ArgumentParser(description="What was searched in each turn, and why, in the browser.")
    parser.add_argument("--api-base", help="base URL of an OpenAI-compatible server")
    parser.add_argument("--model", help="name of its model")
    parser.add_argument("--port", type=int, help="port to serve on")
    options = parser.parse_args()
    llm = ModelChoice(options.api_base, options.model).load()
    print("Loading the embedding and the passages; the first start takes up to a minute …", flush=True)
    index = VectorStoreIndex(demo_passages(), embed_model=load_embedding())
    launch(Panel(Parts.build(index, llm), llm.metadata.model_name if llm else ""), options.port)


if __name__ == "__main__":
    main()
