"""Makes the pictures of demo and report in docs/images; needs Chromium, a Chinese font, and the extras demo and eval.

python scripts/screenshots.py [demo] [report]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
COLUMNS = 80
COMMAND = [sys.executable, "-c", "from llama_index_condense_plus.cli import main; raise SystemExit(main())"]


def demo(folder: Path) -> None:
    """Play the demo in English and Chinese, and take pictures of the first screens."""
    for name, words in (("demo", ()), ("demo.zh", ("--lang", "zh"))):
        environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
        environment.pop("OPENAI_API_KEY", None)
        shown = subprocess.run([*COMMAND, "demo", *words], env=environment, stdout=subprocess.PIPE, check=True).stdout
        console = Console(record=True, width=COLUMNS, file=(folder / "screen").open("w"))
        console.print(Text.from_ansi(shown.decode()))
        page = folder / f"{name}.html"
        page.write_text(console.export_html(theme=MONOKAI, inline_styles=True), encoding="utf-8")
        lines = len(shown.decode().splitlines())
        photograph(page, IMAGES / f"{name}.png", width=800, height=20 * lines + 40)


def report(folder: Path) -> None:
    """Evaluate the sample log, and take a picture of the report."""
    log = ROOT / "examples" / "sample_log.jsonl"
    subprocess.run([*COMMAND, "eval", "--cases", str(log), "--output", str(folder)], check=True)
    photograph(folder / "report.html", IMAGES / "report.png", width=1000, height=1200)


def photograph(page: Path, picture: Path, *, width: int, height: int) -> None:
    """Take a picture of a page.

    Args:
        page: the file to open.
        picture: the PNG file to write.
        width: width of the window in pixels.
        height: height of the window in pixels.
    """
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("Chromium is missing.")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    options += [f"--window-size={width},{height}", f"--screenshot={picture}"]
    subprocess.run([browser, *options, page.as_uri()], check=True, stderr=subprocess.DEVNULL)


PICTURES = {"demo": demo, "report": report}


def main() -> None:
    """Make the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", nargs="*", help=", ".join(PICTURES))
    for name in parser.parse_args().pictures or PICTURES:
        with tempfile.TemporaryDirectory() as folder:
            PICTURES[name](Path(folder))


if __name__ == "__main__":
    main()
