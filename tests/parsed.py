"""HTML as a reader sees it: its elements, its text, and its text line by line."""

from __future__ import annotations

from html.parser import HTMLParser


class Parsed(HTMLParser):
    """Keeps the elements with their attributes, and the text."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.said = [], ""
        self.feed(html)
        self.close()

    def handle_starttag(self, name, attrs):
        self.elements.append((name, dict(attrs)))

    def handle_data(self, data):
        self.said += data


def lines(html: str) -> list[str]:
    """Return the lines of what a notebook shows; in a table, a bar ends each cell."""
    for end, sign in {"</td>": "|", "</th>": "|", "</tr>": "\n", "</div>": "\n", "</b>": "\n"}.items():
        html = html.replace(end, sign)
    return [line for line in Parsed(html).said.splitlines() if line]
