"""Where the panel's widgets are: chat and settings on the left, the turn on the right."""

from __future__ import annotations

from typing import Any

import gradio as gr
from session import Toggles
from wording import LANGUAGES

CHOICES = {
    "trigger": ["learned", "heuristic", "pronoun", "always", "never"],
    "guards": ["faithful", "strict", "minimal", "expansive", "off"],
    "dual": ["auto", "always", "never"],
    "answer": ["conversation", "history", "rewritten", "original"],
}
"""Settings with more than two values."""
TOGGLES = ["enabled", "topic", *CHOICES]
"""Names of the settings' widgets: the fields of ``Toggles``."""


def widgets(questions: list[list[str]]) -> dict[str, Any]:
    """Make the widgets inside the page that is open; their words come later.

    Args:
        questions: what the panel offers to ask, one in each row.

    Returns:
        The widgets by name, which is their ``elem_id`` too.
    """
    made: dict[str, Any] = {"session": gr.State(None)}
    with gr.Row(equal_height=False):
        made["title"] = gr.Markdown(elem_id="title")
        made["language"] = gr.Radio(
            list(LANGUAGES.items()),
            value="en",
            show_label=False,
            container=False,
            elem_id="language",
            scale=0,
            min_width=220,
        )
    with gr.Row(equal_height=False):
        with gr.Column(scale=4, min_width=360):
            made |= _left(questions)
        with gr.Column(scale=6, min_width=480):
            made |= _right()
    return made


def _left(questions: list[list[str]]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "chat": gr.Chatbot(height=400, elem_id="chat", buttons=[], feedback_options=None),
        "message": gr.Textbox(elem_id="message", lines=1, max_lines=4, autofocus=True),
    }
    with gr.Row():
        made["send"] = gr.Button(variant="primary", elem_id="send")
        made["reset"] = gr.Button(elem_id="reset")
    made["scripted"] = gr.Dataset(
        components=[gr.Textbox(visible=False)], samples=questions, type="values", elem_id="scripted"
    )
    with gr.Accordion(open=True, elem_id="settings") as made["settings"]:
        for names in (("enabled", "topic"), ("trigger", "guards"), ("dual", "answer")):
            with gr.Row():
                made |= {name: _toggle(name) for name in names}
    return made


def _toggle(name: str) -> Any:
    value = getattr(Toggles(), name)
    if name in CHOICES:
        return gr.Dropdown(CHOICES[name], value=value, elem_id=name, min_width=140)
    return gr.Checkbox(value, elem_id=name, min_width=140)


def _right() -> dict[str, Any]:
    made: dict[str, Any] = {"turn": gr.Radio([], elem_id="turn"), "view": gr.HTML(elem_id="view")}
    made["instead"] = gr.Textbox(elem_id="instead", lines=1, max_lines=3)
    with gr.Row():
        made |= {name: gr.Button(elem_id=name, size="md", min_width=120) for name in ("search", "replay", "stock")}
    made["compared"] = gr.HTML(elem_id="compared")
    return made
