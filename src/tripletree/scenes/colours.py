"""The colours of all pictures: perceptually uniform, and distinguishable for colour-blind readers too."""

from __future__ import annotations

INK = "#22262b"
GREY = "#5b626b"
FAINT = "#8a9099"
PALE = "#c9cdd2"
PAPER = "#ffffff"
TRACK = "#eceef0"
#: Letters on coloured areas, which are the same on a light and on a dark page: unlike ink and paper, these stay.
ON_LIGHT, ON_DARK = "#16191d", "#fffffe"

# Okabe and Ito's palette, the two that make the calmest areas first; grey is for "other".
CATEGORIES = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#f0e442")
OTHER = "#b3b3b3"
# Muted, and none of them near a colour above: a phase is not an action, even where it is all left or all right.
PHASES = ("#c0dae7", "#cdb395", "#9ac0d1", "#d7cdb2", "#c7f6ff", "#eeefcb", "#d6b8ea", "#a39b8b")

#: Overlays on any map: the state asked about, what it is contrasted with, and places of interest. Dark, because the
#: actions below them have all the bright colours.
HERE = "#d1006c"
THERE = "#111111"
PLACES = ("#2b1fa0", "#6f4000", "#6a0f5a", "#183a2c")

#: Action, value and derivative, wherever the three are compared.
ATTRIBUTE_COLOURS = ("#0072b2", "#d55e00", "#009e73")
#: Models side by side; the yellow of the palette is too pale for a line.
MODELS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#22262b")


def dark(colour: str) -> bool:
    """Return whether light letters are read better than dark ones on a colour, by its luminance (WCAG 2)."""
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)]
    # Where black and white have the same contrast: (1.05) / (Y + 0.05) = (Y + 0.05) / (0.05).
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] < 0.179


def _stops(text: str) -> tuple[str, ...]:
    return tuple(f"#{colour}" for colour in text.split())


# viridis and cividis, sampled, and the part of magma from light to dark. The others are our own, in even steps of
# lightness in OKLab: pale green to navy, two arms from a near-white, and greys that leave coloured dots visible.
# Stops, not matplotlib's names, because the report and the browser need the same colours without matplotlib.
VIRIDIS = _stops(
    "440154 48186a 472d7b 424086 3b528b 33638d 2c728e 26828e 21918c "
    "1fa088 28ae80 3fbc73 5ec962 84d44b addc30 d8e219 fde725"
)
CIVIDIS = _stops(
    "00224e 002e6a 1a386f 32436d 434e6c 535a6d 61656f 6f7073 7d7c78 "
    "8c8878 9b9476 aba072 bcae6c cdbb63 dec958 f0d846 fee838"
)
EMBERS = _stops("fcfdbf fde2a3 fec488 fea772 fc8961 f56b5c e75263 d0416f b73779 9c2e7f 832681 6a1c81 51127c 36106b")
SEA = _stops(
    "f6fae3 dcf0ca bfe7ba 9fddb1 7dd2ad 59c6ab 30b9ab 00abaa 009ca8 "
    "008ca4 007b9d 006b93 0a5b87 1c4c78 223e66 233153 1f2445"
)
GREYS = _stops("f7f7f7 e6e6e6 d4d4d4 c2c2c2 b0b0b0 9e9e9e 8c8c8c 7b7b7b")
DIVERGING = _stops(
    "005197 1e65ab 3a79bd 548ecc 71a2da 8eb7e5 aecbed d0dff2 f3f3f3 "
    "f0d8cd e9bdaa dfa389 d18b6b c2734e b15c33 9e4616 893100"
)
