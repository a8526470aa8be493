"""Periods: which rhythms a recording may have, by directions that come back after one period and after two.

For a period of N steps every column is filtered by a complex wave of one period: ``u_t`` is the mean of
``exp(-2 pi i a / N) z_{t+a}`` over ``a < N``. That leaves out the mean, trends and the harmonics, and what the filter
makes of white noise or of a random walk forgets itself after N steps. A rhythm does not: there is a direction ``w`` in
which ``w' u`` is the same N steps later. It is an eigenvector of lagged covariances, which are counted once for all
periods. The conditions on unseen windows are what tells a rhythm from noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
C128 = npt.NDArray[np.complex128]

SHORTEST, LONGEST = 6, 1_000
"""Steps of a period: in fewer there is no room for parts; more would need very long episodes."""
CYCLES, FEWEST = 8, 5
"""Cycles of a window that a rhythm is tested on, and of an episode that is shorter but still tested as a whole."""
ONCE, TWICE = 0.5, 0.35
"""How well a window must repeat after one period, and after two."""
HALF = 0.5
"""Share of the windows that must repeat."""
WINDOWS, FEWEST_UNSEEN = 3, 12
"""With fewer windows than this all of them must repeat, and have so many cycles together."""
WEAK = 0.3
"""Where the wave is weaker than this share of its usual strength, there is no rhythm."""
RIDGES = (0.01, 0.1)
"""Variance that a direction must have in the wave to count; a column that is a pure wave has 0.5."""
DIRECTIONS = 3
"""Directions that are compared at a period: large waves are not always the steady ones."""
LOW = 0.3
"""Coherence after one period, where it was searched, below which a period is not tested."""
APART = 0.15
"""Share by which the speed of a direction may differ from the period that it was found at: else it has leaked in."""
BLOCK = 1 << 14
"""Steps that are filtered at once, at least."""
MOST_TRIED = 6
MULTIPLES = (1, 2, 3, 4)
"""Multiples of a period that are tested with it, because the second harmonic is often the strongest."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A period that was tested on steps that it was not found on.

    Attributes
    ----------
    steps : int
        Steps of the filter.
    period : float
        The period, as found.
    direction : complex array of shape (columns,)
        Where it is seen.
    scale : float
        Usual strength of the wave.
    share : float
        Share of the unseen windows that repeat.
    windows : int
        How many windows there were.
    cycles : float
        How many cycles they have together.
    coherence : float
        How well they repeat after one period on average.
    """

    steps: int
    period: float
    direction: C128
    scale: float
    share: float
    windows: int
    cycles: float
    coherence: float

    @property
    def holds(self) -> bool:
        """Whether enough windows repeat."""
        if self.windows < WINDOWS:
            return self.share == 1 and self.cycles >= FEWEST_UNSEEN
        return self.share >= HALF


def candidates(seen: Sequence[F64], unseen: Sequence[F64]) -> list[Candidate]:
    """Return the periods that the seen parts of a recording suggest, tested on the unseen ones."""
    longest = min(max(len(part) for part in seen), max(len(part) for part in unseen)) // FEWEST
    most = min(LONGEST, longest)
    if most < SHORTEST:
        return []
    lagged = _lagged(seen, 3 * most)
    grid = _grid(most)
    found = [next(_directions(lagged, n, RIDGES[-1:])) for n in grid]
    score = np.array(
        [one.score if abs(one.speed / n - 1) < APART else -1.0 for n, one in zip(grid, found, strict=True)]
    )
    peaks = [i for i in range(len(grid)) if score[i] > 0 and score[i] >= score[max(i - 2, 0) : i + 3].max()]
    peaks = sorted(peaks, key=lambda i: -score[i])[:MOST_TRIED]
    tried = dict.fromkeys(round(found[i].period * k) for i in peaks for k in MULTIPLES)
    tests = (_tested(lagged, n, seen, unseen) for n in tried if SHORTEST <= n <= most)
    return [one for one in tests if one is not None]


def chosen(tested: Sequence[Candidate]) -> Candidate | None:
    """Return the period that repeats best, or the multiple of it that repeats too: a harmonic is not the rhythm."""
    good = [one for one in tested if one.holds]
    if not good:
        return None
    best = max(good, key=lambda one: one.coherence)
    for k in reversed(MULTIPLES):
        same = [one for one in good if abs(one.period / (k * best.period) - 1) < 0.04]
        if same:
            return max(same, key=lambda one: one.coherence)
    return best


def wave(part: F64, direction: C128, steps: int) -> C128:
    """Return the filtered direction at each step that has ``steps`` steps from it on, turned to the filter's middle."""
    if len(part) < steps:
        return np.zeros(0, np.complex128)
    kernel = np.exp(2j * np.pi * (np.arange(steps) - (steps - 1) / 2) / steps)
    # Two real products: a mixed one would copy the part as complex numbers.
    along = part @ direction.real + 1j * (part @ direction.imag)
    return _convolved(along, kernel) / steps


def _convolved(along: C128, kernel: C128) -> C128:
    """Return where a kernel lies wholly within a line of numbers, the convolution of both, block by block."""
    found = np.empty(len(along) - len(kernel) + 1, np.complex128)
    # Of each block the first numbers, one less than the kernel has, are those of the block before.
    size = 1 << min(max(4 * len(kernel), BLOCK), len(along) + len(kernel) - 2).bit_length()
    spectrum, hop = np.fft.fft(kernel, size), size - len(kernel) + 1
    for begin in range(0, len(found), hop):
        block = np.fft.ifft(np.fft.fft(along[begin : begin + size], size) * spectrum)[len(kernel) - 1 :]
        found[begin : begin + hop] = block[: len(found) - begin]
    return found


def turns(filtered: C128, scale: float) -> C128:
    """Return the wave's phase as a number on the unit circle, and 0 where the wave is weak."""
    size = np.abs(filtered)
    return np.where(size > WEAK * scale, filtered / np.maximum(size, 1e-300), 0)


@dataclass(frozen=True, eq=False)
class _Direction:
    """A direction at one period: its score, how well it repeats, and its period by one step and by one cycle."""

    vector: C128
    score: float
    repeats: float
    speed: float
    period: float


def _grid(most: int) -> list[int]:
    """Return periods 3 % apart, all of the short ones."""
    found = [SHORTEST]
    while (following := max(found[-1] + 1, round(found[-1] * 1.03))) <= most:
        found.append(following)
    return found


def _lagged(parts: Sequence[F64], lags: int) -> F64:
    """Return the mean of ``z_t z_{t+l}'`` within parts, for every lag; shape (lags + 1, columns, columns)."""
    width = parts[0].shape[1]
    block = min(max(len(part) for part in parts), max(2 * lags, 1024))
    size = 1 << int(np.ceil(np.log2(block + lags)))
    spectra = np.zeros((size // 2 + 1, width, width), np.complex128)
    for batch in _batches(parts, block, lags, max(4_000_000 // (size * width), 1)):
        early, late = (np.stack([np.fft.rfft(pair[k], size, axis=0) for pair in batch]) for k in (0, 1))
        spectra += np.matmul(early.conj().transpose(1, 2, 0), late.transpose(1, 0, 2))
    pairs = sum(np.maximum(len(part) - np.arange(lags + 1), 0) for part in parts)
    lagged: F64 = np.fft.irfft(spectra, size, axis=0)[: lags + 1] / np.maximum(pairs, 1)[:, None, None]
    return lagged


def _batches(parts: Sequence[F64], block: int, lags: int, most: int) -> Iterator[list[tuple[F64, F64]]]:
    """Yield blocks of the parts with what follows them, at most so many at a time."""
    batch = []
    for part in parts:
        for begin in range(0, len(part), block):
            batch.append((part[begin : begin + block], part[begin : begin + block + lags]))
            if len(batch) == most:
                yield batch
                batch = []
    if batch:
        yield batch


def _filtered(lagged: F64, steps: int, lag: int) -> C128:
    """Return the covariance of the filtered columns with themselves ``lag`` steps later."""
    shift = np.arange(1 - steps, steps)
    weight = (steps - np.abs(shift)) * np.exp(-2j * np.pi * shift / steps) / steps**2
    # Covariances at a negative lag are those at the positive one, transposed.
    back = max(steps - 1 - lag, 0)
    total = _weighted(weight[back:], lagged[lag + 1 - steps + back : lag + steps])
    return total + _weighted(weight[:back][::-1], lagged[1 : back + 1]).T if back else total


def _weighted(weight: C128, matrices: F64) -> C128:
    """Return a weighted sum of real matrices; two real products, because a mixed one would copy all of them."""
    flat = matrices.reshape(len(matrices), -1)
    total: C128 = (weight.real @ flat + 1j * (weight.imag @ flat)).reshape(matrices.shape[1:])
    return total


def _directions(lagged: F64, steps: int, ridges: Sequence[float]) -> Iterator[_Direction]:
    """Yield directions that repeat after one period, for each ridge the best one first."""
    now, next_step, after = (_filtered(lagged, steps, lag) for lag in (0, 1, steps))
    strength, basis = np.linalg.eigh((now + now.conj().T) / 2)
    for ridge in ridges:
        whiten = basis / np.sqrt(np.maximum(strength, 0) + ridge)
        found, vectors = np.linalg.eigh(whiten.conj().T @ ((after + after.conj().T) / 2) @ whiten)
        for k in range(1, min(DIRECTIONS, len(found)) + 1):
            vector = _upright(whiten @ vectors[:, -k])
            size = max(float(np.real(vector.conj() @ now @ vector)), 1e-12)
            turned = complex(vector.conj() @ after @ vector)
            step = float(np.angle(vector.conj() @ next_step @ vector))
            yield _Direction(
                vector=vector,
                score=float(found[-k]),
                repeats=turned.real / size,
                speed=2 * np.pi / step if step > 0 else np.inf,
                period=steps * 2 * np.pi / (2 * np.pi + float(np.angle(turned))),
            )


def _upright(vector: C128) -> C128:
    """Return a direction turned so that its first large number is positive: where phase 0 is, rounding must not say."""
    size = np.abs(vector)
    first = vector[np.flatnonzero(size >= 0.99 * size.max())[0]]
    turned: C128 = vector * (np.conj(first) / max(float(np.abs(first)), 1e-300))
    return turned


def _tested(lagged: F64, steps: int, seen: Sequence[F64], unseen: Sequence[F64]) -> Candidate | None:
    """Return a period with what unseen windows say of it; None where it is none, or cannot be tested."""
    best: Candidate | None = None
    for found in _directions(lagged, steps, RIDGES):
        if found.repeats < LOW or abs(found.speed / steps - 1) > APART:
            continue
        strength = np.concatenate([np.abs(wave(part, found.vector, steps)) for part in seen])
        scale = float(np.sqrt(np.mean(strength**2)))
        one = _judged(seen, found, steps, scale)
        if one is not None and (best is None or one.coherence > best.coherence):
            best, direction = one, found
    return None if best is None else _judged(unseen, direction, steps, best.scale)


def _judged(parts: Sequence[F64], found: _Direction, steps: int, scale: float) -> Candidate | None:
    """Return what the windows of some parts say of a direction."""
    windows = list(_windows(parts, found, steps, scale))
    if not windows:
        return None
    coherent = np.array(windows)
    share = float((coherent >= [ONCE, TWICE, TWICE, TWICE]).all(axis=1).mean())
    cycles = sum(len(part) for part in parts if len(part) >= FEWEST * found.period) / found.period
    repeats = float(coherent[:, 0].mean())
    return Candidate(steps, found.period, found.vector, scale, share, len(windows), cycles, repeats)


def _windows(unseen: Sequence[F64], found: _Direction, steps: int, scale: float) -> Iterator[list[float]]:
    """Yield how well each window repeats after one period and after two, and opposes and turns on the way."""
    period = found.period
    for part in unseen:
        if len(part) < FEWEST * period:
            continue
        turned = turns(wave(part, found.vector, steps), scale)
        for window in np.array_split(turned, max(int(len(part) // (CYCLES * period)), 1)):
            # What repeats after a half or a third of the period has leaked in from there: it must turn evenly.
            yield [_repeats(window, period, share) for share in (1.0, 2.0, 0.5, 0.25)]


def _repeats(turned: C128, period: float, share: float) -> float:
    """Return how well the phase has turned as it should after a share of the period: 1 if it does at every step."""
    lag = max(round(share * period), 1)
    if lag >= len(turned):
        return 0.0
    moved = np.mean(turned[lag:] * turned[:-lag].conj())
    # After whole periods the phase must be the same at the nearest step; after parts of one it has turned by them.
    return float(np.real(moved * np.exp(-2j * np.pi * lag / period)))
