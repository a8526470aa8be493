"""What to type: the library's advice is in Python's words, here it is turned into those of the shell."""

from __future__ import annotations

import re

from tripletree.checks import PARAMETERS

_ROLES = r"(episode|step|reward|terminated|truncated|done|previous_row|next_row|next_state|action)"
_SCALARS = "|".join(sorted({*PARAMETERS, "action_kind", "ending", "encoding", "log"} - {"progress", "theta"}, key=len))
_LISTS = re.compile(r"\b(features|ignore)=\[([^\]]*)\]")
_MAPS = re.compile(r"\b(unit|kind|label)s=\{([^}]*)\}")
_ROLE = re.compile(rf'(?<![-\w."]){_ROLES}=(\[[^\]]*\]|"[^"]*")?')
_SCALAR = re.compile(rf"""(?<![-\w."])({_SCALARS})=("[^"]*"|'[^']*'|\(|[\w+-]+(?:\.\d+)?)?""")
_THETA = re.compile(r"\btheta=\(([^)]*)\)")


def for_shell(text: str) -> str:
    """Return a message with its keywords as options.

    >>> for_shell('Type reward="...", or endless=True; try max_leaves=200.')
    'Type --column reward=NAME, or --endless; try --max-leaves 200.'
    >>> for_shell('Type labels={0: "left", 1: "right"} or ignore=["x", "y"].')
    'Type --label 0=left --label 1=right or --ignore x,y.'
    """
    text = text.replace('read_log(path, encoding="latin-1")', 'encoding="latin-1"')
    text = text.replace("endless=True", "--endless").replace("early_stopping=False", "--no-early-stopping")
    text = _THETA.sub(lambda found: f"--theta {found[1].replace(' ', '')}", text)
    text = _LISTS.sub(lambda found: f"--{found[1]} {_items(found[2])}", text)
    text = _MAPS.sub(_pairs, text)
    text = re.sub(rf"\(given as {_ROLES}=\)", r"(given as --column \1)", text)
    text = _ROLE.sub(lambda found: f"--column {found[1]}={_items((found[2] or '...').strip('[]'))}", text)
    return _SCALAR.sub(_option, text)


def _items(text: str) -> str:
    """Return ``"x", "y"`` as ``x,y``; dots are something to fill in."""
    names = (item.strip().strip("\"'") for item in text.split(",")) if text else ()
    return ",".join("NAME" if name == "..." else name for name in names)


def _pairs(found: re.Match[str]) -> str:
    pairs = (pair.partition(":") for pair in found[2].split(","))
    return " ".join(f"--{found[1]} {_items(key)}={_items(value)}" for key, _, value in pairs)


def _option(found: re.Match[str]) -> str:
    value = found[2] or ""
    if value == "(":
        return found[0]
    return f"--{found[1].replace('_', '-')} {value.strip(chr(34) + chr(39))}".rstrip()
