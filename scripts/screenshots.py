"""Makes the pictures in docs/images: demo, panel, report, and the OpenTelemetry spans of one turn.

python scripts/screenshots.py [demo] [panel] [report] [spans]

Needs Chromium, a Chinese font, and the extras eval, otel and web; `make pages` installs the extras.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.memory import ChatMemoryBuffer
from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "examples" / "web")]

from llama_index_condense_plus import CondensePlusChatEngine  # noqa: E402 - this tree's
from llama_index_condense_plus.demo.embedding import load_embedding  # noqa: E402
from llama_index_condense_plus.demo.knowledge import demo_passages  # noqa: E402

IMAGES = ROOT / "docs" / "images"
COLUMNS = 80
COMMAND = [sys.executable, "-c", "from llama_index_condense_plus.cli import main; raise SystemExit(main())"]
STYLE = """
body { font: 14px/1.5 system-ui, sans-serif; margin: 16px } p { margin: 0; color: #9a3412; font-size: 13px }
.row { display: grid; grid-template-columns: 370px 1fr 60px; gap: 10px; align-items: center }
small { text-align: right }
.bar { position: relative; height: 14px; background: #f3f5f7 }
.bar i { position: absolute; top: 0; bottom: 0; background: #2f81f7; min-width: 2px }
"""
PANELS = (
    ("panel", "en-GB", ("When is Gale Hut open?", "And the price?")),
    ("panel.zh", "zh-CN", ("《牡丹亭》今晚几点开演？", "它一共演多久？")),
)


def demo(browser: Browser, folder: Path) -> None:
    """Play the demo, and take a picture of the first screen."""
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    environment.pop("OPENAI_API_KEY", None)
    shown = subprocess.run([*COMMAND, "demo"], env=environment, stdout=subprocess.PIPE, check=True).stdout
    console = Console(record=True, width=COLUMNS, file=(folder / "screen").open("w"))
    console.print(Text.from_ansi(shown.decode()))
    page = folder / "demo.html"
    page.write_text(console.export_html(theme=MONOKAI, inline_styles=True), encoding="utf-8")
    photograph(browser, page, "demo", width=800)


def panel(browser: Browser, _: Path) -> None:
    """Ask the panel in English and Chinese, and take pictures of the last turn."""
    import panel as web  # noqa: PLC0415 - the server of examples/web
    import uvicorn  # noqa: PLC0415

    app = web.Panel(VectorStoreIndex(demo_passages(), embed_model=load_embedding())).app()
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
    for name, locale, questions in PANELS:
        page = browser.new_context(locale=locale, viewport={"width": 1200, "height": 800}).new_page()
        page.goto(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}")
        for question in questions:
            page.fill("#message", question)
            page.press("#message", "Enter")
            page.locator(".me[aria-current=true]", has_text=question).wait_for()
        page.screenshot(path=IMAGES / f"{name}.png")
    server.should_exit = True
    thread.join()


def report(browser: Browser, folder: Path) -> None:
    """Evaluate the sample log, and take a picture of the report."""
    log = ROOT / "examples" / "sample_log.jsonl"
    subprocess.run([*COMMAND, "eval", "--cases", str(log), "--output", str(folder)], check=True)
    photograph(browser, folder / "report.html", "report", width=1000, height=1200)


def spans(browser: Browser, folder: Path) -> None:
    """Export the spans of a follow-up, and draw them as a waterfall, with the events that they hold."""
    from tests.fakes import ScriptedLLM  # noqa: PLC0415

    llm = ScriptedLLM(rewrite="How many people can sleep in Gale Hut?", rewrite_delay_s=0.12, delay_s=0.2)
    index = VectorStoreIndex(demo_passages(), embed_model=load_embedding())
    engine = CondensePlusChatEngine.from_index(index, llm=llm, memory=ChatMemoryBuffer.from_defaults())
    engine.chat("When is Gale Hut open?")
    with exported() as finished:
        engine.chat("How many people can sleep there?")
    made = sorted(finished(), key=lambda span: span.start_time)
    page = folder / "spans.html"
    page.write_text(waterfall(made), encoding="utf-8")
    photograph(browser, page, "spans", width=1000)


@contextmanager
def exported() -> Iterator[Callable[[], Any]]:
    """Export spans to memory; what is yielded returns the finished ones."""
    from llama_index.observability.otel.base import (  # noqa: PLC0415 - the extra otel
        OTelCompatibleEventHandler,
        OTelCompatibleSpanHandler,
    )
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: PLC0415
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter  # noqa: PLC0415

    memory, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    handler = OTelCompatibleSpanHandler(tracer=provider.get_tracer("picture"), tracer_provider=provider)
    root = get_dispatcher()
    before = list(root.span_handlers), list(root.event_handlers)
    root.add_span_handler(handler)
    root.add_event_handler(OTelCompatibleEventHandler(span_handler=handler))
    yield memory.get_finished_spans
    root.span_handlers, root.event_handlers = before


def waterfall(made: list[Any]) -> str:
    """Return spans as a page: a bar each, below its parent; inner methods are left out."""
    by_id = {span.context.span_id: span for span in made}
    start, end = made[0].start_time, max(span.end_time for span in made)

    def depth(span: Any) -> int:
        parent = by_id.get(span.parent.span_id) if span.parent else None
        return depth(parent) + shown(parent) if parent else 0

    def shown(span: Any) -> bool:
        long = span.end_time - span.start_time > (end - start) / 200
        return long and not span.name.rpartition(".")[2].startswith("_")

    def percent(moment: int) -> str:
        return f"{100 * moment / (end - start):.2f}%"

    rows = []
    for span in filter(shown, made):
        lasts = span.end_time - span.start_time
        bar = f'<i style="left:{percent(span.start_time - start)};width:{percent(lasts)}"></i>'
        name = f'<span style="padding-left:{16 * depth(span)}px">{escape(span.name)}</span>'
        rows.append(f'<div class="row">{name}<div class="bar">{bar}</div><small>{lasts / 1e6:.0f} ms</small></div>')
        if events := [event.name for event in span.events]:
            rows.append(f'<p style="padding-left:{16 * depth(span) + 16}px">{escape(" · ".join(events))}</p>')
    return f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style>{"".join(rows)}'


def photograph(browser: Browser, page: Path, name: str, *, width: int, height: int | None = None) -> None:
    """Take a picture of a file.

    Args:
        browser: what opens it.
        page: the file.
        name: name of the picture.
        width: width of the window in pixels.
        height: height of the picture in pixels; none: as high as the page.
    """
    opened = browser.new_page(viewport={"width": width, "height": height or 100})
    opened.goto(page.as_uri())
    opened.screenshot(path=IMAGES / f"{name}.png", full_page=height is None)


PICTURES = {"demo": demo, "panel": panel, "report": report, "spans": spans}


def main() -> None:
    """Make the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", nargs="*", help=", ".join(PICTURES))
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("Chromium is missing.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in parser.parse_args().pictures or PICTURES:
            with tempfile.TemporaryDirectory() as folder:
                PICTURES[name](browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
