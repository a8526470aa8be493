"""The explorer in a notebook: the same page and the same answers, through the notebook's own connection."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tripletree.errors import MissingDependencyError
from tripletree.frontend import assets
from tripletree.web.ask import Desk
from tripletree.web.errors import AskError
from tripletree.web.house import House
from tripletree.web.packing import encoded
from tripletree.web.page import STYLES
from tripletree.web.server import MOST_ASKED, WORKERS

ENTRY = "widget.js"


def widget(house: House, height: int) -> Any:
    """Return a widget for a notebook.

    Parameters
    ----------
    house : House
        What is asked about.
    height : int
        In pixels.
    """
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise MissingDependencyError(
            "The explorer in a notebook needs anywidget. Type: pip install 'tripletree[notebook]'"
        ) from error
    desk, pool = Desk(house), ThreadPoolExecutor(WORKERS, thread_name_prefix="tripletree-ask")

    class Explorer(anywidget.AnyWidget):  # type: ignore[misc]
        """A page in a cell; ``selection`` is what is selected in it, as the address of a page has it."""

        _esm = traitlets.Unicode(assets.script(ENTRY)).tag(sync=True)
        _css = traitlets.Unicode("\n".join(assets.read(name) for name in STYLES)).tag(sync=True)
        height = traitlets.Int(720).tag(sync=True)
        selection = traitlets.Unicode("").tag(sync=True)

    found = Explorer(height=height)

    def heard(one: Any, content: Any, _: Any) -> None:
        # Answered in another thread: the notebook's own goes on while a tree is grown.
        pool.submit(lambda: one.send({"id": content.get("id"), "reply": reply(desk, content)}))

    found.on_msg(heard)
    # For tests, and for whoever wants to end its work.
    found.house = house
    return found


def reply(desk: Desk, content: Any) -> str:
    """Return the reply to a message of the page, as JSON: one answer, or those of a batch."""
    body = content.get("body") if isinstance(content, dict) else None
    listed = body.get("batch") if isinstance(body, dict) else None
    if isinstance(listed, list) and len(listed) <= MOST_ASKED and all(isinstance(one, dict) for one in listed):
        found = b",".join(desk.reply(one.get("question"), one.get("args", {}))[0] for one in listed)
        return (b'{"batch":[%s]}' % found).decode()
    if isinstance(body, dict) and "batch" not in body:
        return desk.reply(body.get("question"), body.get("args", {}))[0].decode()
    return encoded({"error": AskError("broken", "This is no question.").to_dict()}).decode()
