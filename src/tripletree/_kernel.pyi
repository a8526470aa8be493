from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F32 = npt.NDArray[np.float32]
CsvColumn = npt.NDArray[np.int64] | F64 | list[str]

def csv_header(data: bytes, separator: str, last: bool) -> tuple[list[str], int] | None: ...
def csv_columns(
    data: bytes, separator: str, last: bool, as_text: bytes
) -> tuple[int, int, tuple[int, int, int], list[tuple[CsvColumn, int]]]: ...
def discounted(rewards: F64, starts: npt.NDArray[np.int64], gamma: float, tail: F64) -> F64: ...
def narrow(numbers: F64, out: npt.NDArray[np.float32]) -> bool: ...
def put_columns(columns: Sequence[npt.NDArray[Any]], out: F64) -> None: ...
def pack_states(
    states: F64, rows: I64, finals: F64, cuts: F64, first_cut: I64, bins: int, spare: int, threads: int
) -> list[tuple[F64, npt.NDArray[np.uint8]]]: ...
def settle(region: I64, starts: I64, cost: float) -> I64: ...
def add_hashes(
    columns: F64,
    keys: npt.NDArray[np.uint64],
    starts: npt.NDArray[np.int64],
    sums: npt.NDArray[np.uint64],
    before: int = 0,
) -> None: ...
def encode(states: F64, bins: int, threads: int) -> npt.NDArray[np.uint32]: ...
def sort_columns(states: F64, threads: int) -> F64: ...
def other_values(column: F64, known: F64) -> F64: ...
def choose_edges(
    ordered: F64, counts: npt.NDArray[np.int64], bins: int, midpoint: bool, threads: int
) -> tuple[F64, npt.NDArray[np.int64]]: ...
def bin_rows(states: F64, edges: F64, first: npt.NDArray[np.int64]) -> npt.NDArray[np.uint16]: ...
def encode_edges(states: F64, edges: F64, first: npt.NDArray[np.int64], threads: int) -> npt.NDArray[np.uint32]: ...

class Source:
    @overload
    def __init__(self, columns: F64) -> None: ...
    @overload
    def __init__(self, states: F64, starts: I64, final_states: F64, periods: F64, dt: F64) -> None: ...

def tally(column: F64, most: int) -> tuple[F64, npt.NDArray[np.int64]]: ...
def add_up(left: I32, totals: F64 | I64) -> None: ...
def leaves_in_order(left: I32) -> I64: ...
def middle(columns: F64) -> tuple[F64, F64]: ...
def gains(keys: I32, rows: I64, gains: F64, bins: int) -> F64: ...
def count_keys(source: Source, column: int, prefix: int, done: int, counts: I64, threads: int = 1) -> None: ...
def widen_ranges(source: Source, lowest: F64, highest: F64, threads: int = 1) -> None: ...
def add_sums(
    source: Source, centre: F64, unit: F64, grids: tuple[float, float], sums: F64, threads: int = 1
) -> int: ...
def quantise(
    source: Source,
    kept: I64,
    centre: F64,
    unit: F64,
    mean: F64,
    scale: F64,
    out: I32,
    lane: int,
    fine: bool = False,
    threads: int = 1,
) -> None: ...
def narrow_lanes(rows: I32, n_plain: int, n_derivative: int, threads: int = 1) -> npt.NDArray[np.uint8]: ...

class Codes:
    def __init__(self, codes: npt.NDArray[np.uint32], threads: int = 1, compact: bool = False) -> None: ...
    def take(self, rows: I64) -> Codes: ...

def grow(
    states: F64,
    codes: Codes | npt.NDArray[np.uint32],
    rows: I32,
    n_plain: int,
    n_derivative: int,
    max_leaves: int,
    max_depth: int,
    min_samples_leaf: int,
    min_gain: float,
    by_gain: bool,
    midpoint: bool,
    threads: int,
    progress: Callable[[int, int], None] | None,
    pool: int = 0,
    fine: bool = False,
    weighted: bool = False,
    edges: F64 | None = None,
    first_edge: npt.NDArray[np.int64] | None = None,
) -> tuple[I32, F64, I32, F64, I32]: ...

class Piece:
    def __init__(
        self,
        states: npt.NDArray[np.float32] | F64,
        starts: I64,
        final_states: F64,
        periods: F64,
        actions: npt.NDArray[Any],
        given: I32,
        at: npt.NDArray[np.uint16],
        dt: F64 | None = None,
        weights: I32 | None = None,
    ) -> None: ...

class Counter:
    def __init__(
        self,
        edges: F64,
        first_edge: I64,
        action: tuple[I64, F64, F64, F64, F64],
        labels: I32,
        derivative: tuple[I64, F64, F64, F64, F64],
        feature: I32,
        cut: I32,
        left: I32,
        slot: I32,
        n_plain: int,
        n_derivative: int,
        fine: bool,
        weighted: bool,
        shift: int,
        histograms: I64,
        lie: I64,
    ) -> None: ...
    def add(self, piece: Piece) -> None: ...
    def finish(self) -> None: ...

def split_histogram(
    histogram: npt.NDArray[np.int64],
    first_bin: npt.NDArray[np.int64],
    n_plain: int,
    n_derivative: int,
    fine: bool,
    weighted: bool,
    missing: bool,
    least: float,
    min_samples_leaf: int,
    min_gain: float,
) -> tuple[int, int, int, float, npt.NDArray[np.int64]]: ...
def priority_of(
    sums: npt.NDArray[np.int64], n_plain: int, n_derivative: int, fine: bool, weighted: bool, missing: bool
) -> float: ...
def apply(states: F64, feature: I32, threshold: F64, left: I32, leaf_number: I32, threads: int) -> I32: ...
def attribute_paths(
    states: F64,
    lower: F64,
    upper: F64,
    cover: F64,
    at: F64,
    weight: F64,
    origin: F64,
    centre: F64,
    slope: F64,
    low: F64,
    high: F64,
    threads: int,
) -> F64: ...
def attribute_background(
    states: F64,
    background: F64,
    feature: I32,
    threshold: F64,
    left: I32,
    leaf_number: I32,
    origin: F64,
    centre: F64,
    slope: F64,
    low: F64,
    high: F64,
    threads: int,
) -> F64: ...
def add_to_leaves(
    states: F64,
    starts: I64,
    final_states: F64,
    periods: F64,
    dt: F64,
    actions: F64,
    labels: I32,
    values: F64,
    rows: I64,
    weights: I64,
    leaf: I32,
    factors: F64,
    words: npt.NDArray[np.uint64],
    ranges: F64,
    counts: I64,
    label_counts: I64,
    threads: int,
) -> None: ...
def merge_leaves(
    words: npt.NDArray[np.uint64],
    ranges: F64,
    counts: I64,
    labels: I64,
    other_words: npt.NDArray[np.uint64],
    other_ranges: F64,
    other_counts: I64,
    other_labels: I64,
) -> None: ...
def finish_leaves(
    left: I32,
    leaf_node: I64,
    exponents: I64,
    n_actions: int,
    features: int,
    words: npt.NDArray[np.uint64],
    ranges: F64,
    counts: I64,
    labels: I64,
) -> tuple[I64, I64, F64, F64]: ...
def linear_leaves(
    states: F64,
    starts: I64,
    final_states: F64,
    periods: F64,
    dt: F64,
    actions: F64,
    labels: I32,
    values: F64,
    rows: I64,
    weights: I64,
    node: I32,
    fold: npt.NDArray[np.uint8],
    left: I32,
    origin: F64,
    mean: F64,
    per_span: F64,
    sigma: F64,
    penalty: F64,
    n_labels: int,
    folds: int,
    most: int,
    threads: int,
) -> tuple[F64, F32, F32, F32, F32, F64]: ...

class Policy:
    def __init__(
        self,
        feature: I32,
        threshold: F64,
        left: I32,
        origin: F64,
        centre: F64,
        slope: F32,
        low: F32,
        high: F32,
    ) -> None: ...
    def one(self, state: F64 | F32) -> F64: ...
    def best(self, state: F64 | F32) -> int: ...
    def many(self, states: F64, node: I32, threads: int) -> F64: ...
    def errors(
        self, states: F64, targets: F64, per_unit: F64, weights: F64, scores: int, threads: int
    ) -> tuple[F64, F64]: ...
