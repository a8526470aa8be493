"""The scripts and styles of the browser as text: several ES modules become one, so that a page needs no server."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib import resources

# Two patterns instead of a bundler, so that the package needs no build step for the browser: our modules use no other
# form of import or export.
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function |const |class )", re.MULTILINE)


def script(entry: str = "main.js") -> str:
    """Return a module together with all that it imports, each once, as the text of one module.

    Our modules import by name only and share no name, which is why they can stand one after the other in one scope.
    """
    parts: dict[str, str] = {}

    def add(name: str) -> None:
        if name not in parts:
            text = read(name)
            parts[name] = ""  # a circle ends here
            for other in _IMPORT.findall(text):
                add(other)
            # Taken out and put in again: a module stands after all that it imports.
            del parts[name]
            parts[name] = _EXPORT.sub("", _IMPORT.sub("", text))

    add(entry)
    return "\n".join(parts.values())


def read(name: str) -> str:
    """Return one of the files as it is."""
    return resources.files("tripletree.frontend").joinpath("static", name).read_text(encoding="utf-8")


def fingerprint(text: str) -> str:
    """Return the source expression by which a content security policy allows just this script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
