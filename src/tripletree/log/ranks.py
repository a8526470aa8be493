"""Numbers at some places of a sorted column that nobody sorts: found bit by bit, in passes that only count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

RADIX = 16
"""Bits of a number that are told apart in one pass."""


@dataclass(frozen=True)
class Ranks:
    """Places that are looked for, from the highest bits of their numbers to the lowest.

    Attributes
    ----------
    left : tuple of int
        Each place, counted among the numbers that have the bits known so far.
    prefix : tuple of int
        These bits.
    bits : int
        How many there are.
    """

    left: tuple[int, ...]
    prefix: tuple[int, ...]
    bits: int = 0

    @classmethod
    def of(cls, places: Sequence[int]) -> Self:
        """Look for the numbers at these places, from 0."""
        return cls(tuple(places), (0,) * len(places))

    def counted(self, numbers: F64) -> I64:
        """Return how many numbers with each place's prefix have which bits next, shape (places, 2^16)."""
        keys = ordered_bits(numbers)
        digit = (keys >> np.uint64(64 - self.bits - RADIX)) & np.uint64(2**RADIX - 1)
        high = keys >> np.uint64(64 - self.bits) if self.bits else np.zeros(len(keys), np.uint64)
        known = {
            prefix: np.bincount(digit[high == np.uint64(prefix)].astype(np.int64), minlength=2**RADIX)
            for prefix in set(self.prefix)
        }
        return np.array([known[prefix] for prefix in self.prefix], np.int64).reshape(-1, 2**RADIX)

    def narrowed(self, counts: I64) -> Self:
        """Return the same with more bits known, given what was counted in all parts."""
        left, prefix = [], []
        for place, known, of in zip(self.left, self.prefix, counts, strict=True):
            until = np.cumsum(of)
            digit = int(np.searchsorted(until, place, side="right"))
            left.append(place - (int(until[digit - 1]) if digit else 0))
            prefix.append(known * 2**RADIX + digit)
        return type(self)(tuple(left), tuple(prefix), self.bits + RADIX)

    @property
    def found(self) -> bool:
        """Whether all bits are known."""
        return self.bits == 64 or not self.left

    @property
    def numbers(self) -> list[float]:
        """The numbers, when all bits are known."""
        return [number_of(bits) for bits in self.prefix]


def ordered_bits(numbers: F64) -> npt.NDArray[np.uint64]:
    """Return integers that have the order of the numbers; 0 and -0 are the same."""
    bits = (numbers + 0.0).view(np.uint64)
    return np.where(bits >> np.uint64(63), ~bits, bits | np.uint64(2**63))


def number_of(bits: int) -> float:
    """Return the number that an integer of `ordered_bits` stands for."""
    raw = bits - 2**63 if bits >= 2**63 else 2**64 - 1 - bits
    return float(np.array([raw], np.uint64).view(np.float64)[0])
