"""The colours of all pictures: perceptually uniform, and distinguishable for colour-blind readers too."""

from __future__ import annotations

INK = "#22262b"
GREY = "#5b626b"
FAINT = "#8a9099"
PALE = "#c9cdd2"
PAPER = "#ffffff"
TRACK = "#eceef0"

# Okabe and Ito's palette, the two that make the calmest areas first; grey is for "other".
CATEGORIES = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#f0e442")
OTHER = "#b3b3b3"

#: Overlays on any map: the state asked about, what it is contrasted with, and places of interest.
HERE = "#d1006c"
THERE = "#111111"
PLACES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")

#: Action, value and derivative, wherever the three are compared.
ATTRIBUTE_COLOURS = ("#0072b2", "#d55e00", "#009e73")
#: Models side by side; the yellow of the palette is too pale for a line.
MODELS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#22262b")


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
