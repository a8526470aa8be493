"""Names that nobody chooses, and that any log may hold: of features, of actions, of episodes."""

from __future__ import annotations

import numpy as np

from tripletree.log.log import Log
from tripletree.log.schema import Action, Feature, Schema

NAMES = (
    # Markup, in elements, in attributes, in scripts, styles, comments and SVG.
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "</script><script>window.hacked=1</script>",
    "</title></style></textarea><svg onload=window.hacked=1>",
    '" onmouseover="window.hacked=1" x="',
    "' autofocus onfocus='window.hacked=1",
    "<!-- comment",
    "]]> --> <![CDATA[",
    "&lt;b&gt; &amp; &#60;",
    "javascript:window.hacked=1",
    "<svg><text>a</text></svg>",
    # What other languages read: templates, JSON, CSV, formats, formulas, shells.
    "${window.hacked=1} `x` {{ 7*7 }} {% if x %}",
    '{"a": [1, null]}',
    'one, "two"; three',
    "=1+1|cmd",
    "%s %d %(x)s {} {0!r} {name}",
    "$x^2$ and $\\frac{1}{0}$",
    "\\alpha \\n \\x1b",
    "a\\",
    "_hidden",
    "[bold red]x[/bold red] :warning:",
    "$(touch hacked); `touch hacked`",
    # Orders to a terminal.
    "clear \x1b[2J\x1b[H",
    "title \x1b]0;hacked\x07",
    "c1 \x9b31m red",
    "back\x08\x08\x08\x08 space\x7f",
    "nul \x00 unit \x1f record \x1e",
    "line one\nerror: line two",
    "over\rwritten",
    "tab\tbell\a",
    # Directions, and what takes no room.
    "safe \u202egpj.exe",
    "\u2066isolated\u2069 \u200frtl mark",
    "الموقع",
    "מהירות (m/s)",
    "zero\u200bwidth\ufeffspace\u2060",
    "para\u2028graph\u2029separator",
    # Large, small and many at once.
    "x" * 120,
    "words " * 300,
    "e\u0301\u0327\u0328 Zalgo\u0300\u0301\u0302\u0303\u0304\u0305\u0306",
    "🚀👩‍👩‍👧 \U0001f3f4\U000e0067\U000e0062\U000e007f 漢字",
)


def hostile_log(begin: int, discrete: bool = True) -> Log:
    """A log with four features, three labels (or two dimensions) and six episodes, named by the list from ``begin``."""
    named = [NAMES[(begin + k) % len(NAMES)] for k in range(13)]
    rng = np.random.default_rng(begin)
    n = 240
    states = np.column_stack([rng.uniform(0, 1, n), rng.normal(size=n), rng.integers(0, 2, n), rng.integers(0, 6, n)])
    code = (states[:, 0] > 0.4).astype(np.int32) + (states[:, 2] > 0)
    kinds = ("real", "real", "binary", "integer")
    features = tuple(Feature(name, name[:8], kind) for name, kind in zip(named[:4], kinds, strict=True))
    labels, dimensions = tuple(named[4:7]), tuple(named[4:6])
    return Log(
        states=states,
        actions=code if discrete else np.column_stack([states[:, 0] - states[:, 3], states[:, 1]]),
        rewards=states[:, 3] - states[:, 1],
        starts=np.arange(0, n + 1, 40),
        final_states=np.full((6, 4), np.nan),
        endings=np.array([1, 2, 0, 1, 2, 1]),
        episode_ids=np.array(named[7:13]),
        schema=Schema(
            features,
            Action("discrete", (named[12],), labels, (named[11][:8],))
            if discrete
            else Action("continuous", dimensions, (), ("", named[11][:8])),
        ),
    )
