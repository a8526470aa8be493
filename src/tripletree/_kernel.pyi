from collections.abc import Callable

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
F32 = npt.NDArray[np.float32]
CsvColumn = npt.NDArray[np.int64] | F64 | list[str]

def csv_header(data: bytes, separator: str, last: bool) -> tuple[list[str], int] | None: ...
def csv_columns(
    data: bytes, separator: str, last: bool, as_text: bytes
) -> tuple[int, int, tuple[int, int, int], list[tuple[CsvColumn, int]]]: ...
def discounted(rewards: F64, starts: npt.NDArray[np.int64], gamma: float, tail: F64) -> F64: ...
def add_hashes(
    columns: F64, keys: npt.NDArray[np.uint64], starts: npt.NDArray[np.int64], sums: npt.NDArray[np.uint64]
) -> None: ...
def encode(states: F64, bins: int, exact: bool, threads: int) -> npt.NDArray[np.uint32]: ...
def widen_ranges(columns: F64, lowest: F64, highest: F64) -> None: ...
def add_sums(columns: F64, centre: F64, unit: F64, grids: tuple[float, float], sums: F64) -> int: ...
def quantise(
    matrix: F64, centre: F64, unit: F64, mean: F64, scale: F64, out: I32, lane: int, fine: bool = False
) -> None: ...
def narrow_lanes(rows: I32, n_plain: int, n_derivative: int) -> npt.NDArray[np.uint8]: ...
def grow(
    states: F64,
    codes: npt.NDArray[np.uint32],
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
) -> tuple[I32, F64, I32, F64, I32]: ...
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
def linear_leaves(
    states: F64,
    targets: F64,
    fold: npt.NDArray[np.uint8],
    node: I32,
    left: I32,
    origin: F64,
    mean: F64,
    per_span: F64,
    sigma: F64,
    penalty: F64,
    weights: F64,
    n_plain: int,
    joint: int,
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
