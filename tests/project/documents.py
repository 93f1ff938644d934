"""Blocks of code in the project's documents."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def code_blocks(document: str, language: str) -> list[str]:
    """Return the code blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / document).read_text(), re.DOTALL | re.MULTILINE)
