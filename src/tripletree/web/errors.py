"""Why a question has no answer: what is wrong with it, or what it needs."""

from __future__ import annotations

from typing import Any

from tripletree.errors import TripleTreeError


class AskError(TripleTreeError):
    """A question that cannot be answered.

    Parameters
    ----------
    kind : {"mistake", "needs", "gone", "cancelled", "fault", "broken"}
        What is the matter: something typed wrong, something missing, a handle that is not known any more, work that was
        stopped, a mistake of ours, or a request that no page of ours makes.
    text : str
        The sentence to show.
    needs : str
        What is missing: "log", "agent", "second" or "library".
    """

    def __init__(self, kind: str, text: str, needs: str = "") -> None:
        super().__init__(text)
        self.kind, self.text, self.needs = kind, text, needs

    def to_dict(self) -> dict[str, Any]:
        """Return the error as JSON types."""
        return {"kind": self.kind, "text": self.text, **({"needs": self.needs} if self.needs else {})}
