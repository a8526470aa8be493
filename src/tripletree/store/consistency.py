"""Whether the numbers of a model can come from growth: a real tree, counts that add up, finite statistics."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tripletree.errors import ModelFileError, ParameterError
from tripletree.graph.transitions import Transitions
from tripletree.leaves.attributes import Attributes
from tripletree.log.identity import MOST_KEPT
from tripletree.log.log import TRUNCATED
from tripletree.model.fitted import Fitted
from tripletree.model.track import LONGEST_ID, MOST_BYTES, MOST_EPISODES, Track, unpacked
from tripletree.tree.costs import named_costs
from tripletree.tree.structure import Tree

# Sums of counts over all labels that fit into a header stay below 2^63, so no sum below can wrap around.
MAX_SAMPLES = 2**40
# A log holds numbers up to 1e100, of which a value may add up as many as there are samples; squares stay finite.
MAX_NUMBER = 1e120
# The sum of all weights on their grid.
MAX_WEIGHT = 2**36


def check_model(fitted: Fitted) -> None:
    """Raise ModelFileError when a model, right in shapes and dtypes, contradicts itself."""
    # In this order: each check may rely on what those before it have found to be so.
    _check_range(fitted)
    _check_costs(fitted)
    _check_tree(fitted.tree, len(fitted.schema.features))
    _check_thresholds(fitted)
    _check_counts(fitted.tree, fitted.attributes)
    _check_weights(fitted.tree, fitted.attributes)
    _check_statistics(fitted)
    _check_linear(fitted)
    _check_episodes(fitted)
    if fitted.transitions is not None:
        _check_transitions(fitted.transitions, fitted.leaves)
    if fitted.track is not None:
        _check_track(fitted.track, fitted)


def _check_range(fitted: Fitted) -> None:
    low, high = fitted.feature_min, fitted.feature_max
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ModelFileError("`feature_min` and `feature_max` must be finite.")
    if (low > high).any():
        raise ModelFileError("`feature_min` is above `feature_max`.")


def _check_costs(fitted: Fitted) -> None:
    costs = fitted.options["costs"]
    try:
        known = named_costs(costs, fitted.schema)
    except ParameterError as error:
        raise ModelFileError(f"its option `costs` does not fit its actions: {error}") from None
    if known != costs:
        raise ModelFileError(
            "its option `costs` must be a list of true label, predicted label and a cost other than 1."
        )


def _check_tree(tree: Tree, n_features: int) -> None:
    """Check the numbering of `Tree`: step s makes the nodes 2 s + 1 and 2 s + 2 out of a node before them."""
    left = tree.left
    inner = np.flatnonzero(left >= 0)
    leaf = left < 0
    # Everywhere else a negative child means a leaf: another number would index from the end of an array.
    if (left[leaf] != -1).any():
        raise ModelFileError("a child number is negative; only -1, for a leaf, is allowed.")
    if len(inner) != len(left) // 2 or (np.sort(left[inner]) != np.arange(1, len(left), 2)).any():
        raise ModelFileError("its child numbers are out of range or used twice: they do not make a tree.")
    # Together with the check above this rules out circles, in which looking for a leaf would never end.
    if (left[inner] <= inner).any():
        raise ModelFileError("a child comes before its parent; children must come after.")
    if ((tree.feature[inner] < 0) | (tree.feature[inner] >= n_features)).any():
        raise ModelFileError(f"a node splits on a feature outside 0 ... {n_features - 1}.")
    if not np.isfinite(tree.threshold).all():
        raise ModelFileError("a threshold is not finite.")
    if not (np.isfinite(tree.quality).all() and (tree.quality >= 0).all()):
        raise ModelFileError("a split's quality is not a finite number of at least 0.")
    if (tree.feature[leaf] != -1).any() or (tree.threshold[leaf] != 0).any() or (tree.quality[leaf] != 0).any():
        raise ModelFileError("a leaf has a feature (must be -1), a threshold or a quality (must be 0).")


def _check_thresholds(fitted: Fitted) -> None:
    """Check that every split cuts the box of its node: no leaf is an empty box."""
    tree = fitted.tree
    inner = tree.split_order
    feature, threshold = tree.feature[inner], tree.threshold[inner]
    if not ((fitted.feature_min[feature] < threshold) & (threshold <= fitted.feature_max[feature])).all():
        raise ModelFileError("a threshold lies outside the range of its feature.")
    # Depth first with the current box in two lists, restored on the way back: time and memory linear in the nodes.
    features, thresholds, children = tree.feature.tolist(), tree.threshold.tolist(), tree.left.tolist()
    low = [-np.inf] * len(fitted.feature_min)
    high = [np.inf] * len(fitted.feature_min)
    todo: list[tuple[int, list[float], int, float]] = [(0, low, 0, low[0])]
    while todo:
        node, side, f, bound = todo.pop()
        side[f] = bound
        if node < 0 or children[node] < 0:
            continue
        f, cut = features[node], thresholds[node]
        if not low[f] < cut < high[f]:
            raise ModelFileError("a threshold lies outside its node's box: one side of the split is empty.")
        # Popped from the last: left below the cut, restore, right from the cut on, restore.
        todo.append((-1, low, f, low[f]))
        todo.append((children[node] + 1, low, f, cut))
        todo.append((-1, high, f, high[f]))
        todo.append((children[node], high, f, cut))


def _check_counts(tree: Tree, attributes: Attributes) -> None:
    count, known, actions = attributes.count, attributes.count_derivative, attributes.action_count
    # Means divide by counts, so that no node may be empty.
    if count.min() < 1 or count.max() > MAX_SAMPLES:
        raise ModelFileError(f"a node's count is outside 1 ... {MAX_SAMPLES}.")
    if (known < 0).any() or (known > count).any():
        raise ModelFileError("`count_derivative` is negative or more than `count`.")
    # Bounds before the sum, which could wrap around otherwise.
    if actions is not None and (
        (actions < 0).any() or (actions > count[:, None]).any() or (actions.sum(axis=1) != count).any()
    ):
        raise ModelFileError("the counts of a node's actions do not add up to its count.")
    parent = tree.split_order
    for name, counts in (("count", count), ("count_derivative", known), ("action_count", actions)):
        if counts is not None and (counts[1::2] + counts[2::2] != counts[parent]).any():
            raise ModelFileError(f"`{name}` of two children does not add up to their parent's.")
    if (attributes.derivative_mean is not None) != (known[0] > 0):
        raise ModelFileError("derivatives must be present if, and only if, `count_derivative` of the root is above 0.")


def _check_weights(tree: Tree, attributes: Attributes) -> None:
    """Check that weights are as whole counts of samples, from 1 on, would be."""
    weight, known, actions = attributes.weight, attributes.weight_derivative, attributes.action_weight
    if weight is None or known is None:
        return
    for name, weights, counts in (
        ("weight", weight, attributes.count),
        ("weight_derivative", known, attributes.count_derivative),
        ("action_weight", actions, attributes.action_count),
    ):
        if weights is None or counts is None:
            continue
        if (weights < counts).any() or (weights > MAX_WEIGHT).any() or ((weights > 0) & (counts == 0)).any():
            raise ModelFileError(f"`{name}` does not fit the counts of samples, or exceeds {MAX_WEIGHT}.")
        if (weights[1::2] + weights[2::2] != weights[tree.split_order]).any():
            raise ModelFileError(f"`{name}` of two children does not add up to their parent's.")
    if (known > weight).any() or (actions is not None and (actions.sum(axis=1) != weight).any()):
        raise ModelFileError("the weights of a node's derivatives or actions do not fit its weight.")


def _check_statistics(fitted: Fitted) -> None:
    attributes = fitted.attributes
    means = {
        "action_mean": attributes.action_mean,
        "value_mean": attributes.value_mean,
        "derivative_mean": attributes.derivative_mean,
        "state_mean": attributes.state_mean,
    }
    spreads: dict[str, npt.NDArray[np.float64] | None] = {
        "action_std": attributes.action_std,
        "value_std": attributes.value_std,
        "derivative_std": attributes.derivative_std,
        "impurity": attributes.impurity,
        "action_scale": fitted.action_scale,
        "derivative_scale": fitted.derivative_scale,
        "curve_training": fitted.curve_training,
        "curve_validation": fitted.curve_validation,
    }
    for name, array in (means | spreads).items():
        if array is not None and not np.isfinite(array).all():
            raise ModelFileError(f"`{name}` holds NaN or infinity.")
        if array is not None and (np.abs(array) > MAX_NUMBER).any():
            raise ModelFileError(f"`{name}` holds a number beyond {MAX_NUMBER:g}.")
    for name, array in spreads.items():
        if array is not None and (array < 0).any():
            raise ModelFileError(f"`{name}` holds a negative number.")
    # The squares of a node's deviations are among those of the whole log.
    for name, times in (("action_std", 0.5), ("value_std", 0.5), ("derivative_std", 0.5), ("impurity", 1.0)):
        array, scale = spreads[name], spreads.get(name.replace("std", "scale"))
        for whole in () if array is None else (array[0], array[0] if scale is None else scale):
            if not ((array > MAX_SAMPLES**times * whole) & (whole > 0)).any():
                continue
            raise ModelFileError(f"`{name}` of a node is larger than that of the whole log allows.")
    # A mean of states lies between them.
    middle = attributes.state_mean
    if middle is not None and ((middle < fitted.feature_min) | (middle > fitted.feature_max)).any():
        raise ModelFileError("`state_mean` lies outside the range of the features.")


def _check_linear(fitted: Fitted) -> None:
    """Check that linear models are there where predictions come from them, and that what they say is a number."""
    linear = fitted.linear
    if linear is None:
        if fitted.options["leaf_model"] == "linear":
            raise ModelFileError("its leaves predict by linear models, and it holds none.")
        return
    if fitted.attributes.state_mean is None:
        raise ModelFileError("it holds linear models and lacks `attributes.state_mean`, from which they start.")
    # Not a number fails the comparison, too.
    if not (np.abs(linear.centre) <= MAX_NUMBER).all():
        raise ModelFileError(f"`linear.centre` must hold finite numbers up to {MAX_NUMBER:g}.")
    for name, array in (("slope", linear.slope), ("spread", linear.spread), ("full", linear.full)):
        if array is not None and not np.isfinite(array).all():
            raise ModelFileError(f"`linear.{name}` must hold finite numbers.")
    # Infinite where a range does not fit single precision.
    if not (linear.low <= linear.high).all() or (linear.low == np.inf).any() or (linear.high == -np.inf).any():
        raise ModelFileError("`linear.low` is above `linear.high`.")
    labels = len(fitted.schema.action.labels)
    if (linear.low[:, :labels] < 0).any() or (linear.high[:, :labels] > 1).any():
        raise ModelFileError("a score of a label lies outside 0 ... 1.")
    for name, array in (("spread", linear.spread), ("full", linear.full)):
        if array is not None and (array < 0).any():
            raise ModelFileError(f"`linear.{name}` holds a number below 0.")
    if linear.slope[0].any():
        raise ModelFileError("`linear.slope` of the root must be 0.")


def _check_episodes(fitted: Fitted) -> None:
    for name in ("training_episodes", "validation_episodes"):
        hashes = getattr(fitted, name)
        if hashes is None:
            continue
        if not 1 <= len(hashes) <= MOST_KEPT or (hashes[1:] <= hashes[:-1]).any():
            raise ModelFileError(f"`{name}` must hold 1 to {MOST_KEPT:,} hashes, from small to large.")


def _check_transitions(moves: Transitions, leaves: Attributes) -> None:
    """Check that the transitions can come from a log with the samples of these leaves."""
    n, source, target = moves.n_leaves, moves.source.astype(np.int64), moves.target.astype(np.int64)
    if ((source < 0) | (source >= n) | (target < 0) | (target > n) | (source == target)).any():
        raise ModelFileError("a transition leads from or to a leaf that does not exist, or from a leaf to itself.")
    if (np.diff(source * (n + 1) + target) <= 0).any():
        raise ModelFileError("the transitions are not sorted by source and target, or one of them appears twice.")
    for name in ("count", "steps", "censored", "censored_steps", "stays", "starts", "samples"):
        numbers = getattr(moves, name)
        if (numbers < 0).any() or (numbers > MAX_SAMPLES).any():
            raise ModelFileError(f"`transitions.{name}` holds a number outside 0 ... {MAX_SAMPLES}.")
    if (moves.count < 1).any() or (moves.steps < moves.count).any():
        raise ModelFileError("a transition was never seen, or has fewer steps than sequences.")
    if ((moves.censored_steps < moves.censored) | ((moves.censored == 0) & (moves.censored_steps > 0))).any():
        raise ModelFileError("`transitions.censored_steps` does not fit `transitions.censored`.")
    if ((moves.stays > moves.censored_steps) | (moves.stays < moves.censored_steps - moves.censored)).any():
        raise ModelFileError("`transitions.stays` does not fit `transitions.censored_steps`.")
    # Sums of whole numbers as doubles may be off beyond 2^53; then they are not equal to the samples either.
    steps, samples = np.bincount(source, moves.steps, n) + moves.censored_steps, leaves.count
    if leaves.weight is not None:
        # Steps of weight 0 are no samples, and episodes of weight 0 are not followed.
        _check_weighted_moves(moves)
        if (moves.samples < samples).any() or (steps > moves.samples).any() or not moves.beginnings.any():
            raise ModelFileError("the steps of the transitions do not fit the samples of their leaves.")
        return
    if moves.weight is not None:
        raise ModelFileError("its transitions have weights, and its samples have none.")
    if (moves.samples != samples).any() or (steps != samples).any():
        raise ModelFileError("the steps of the transitions do not add up to the samples of their leaves.")
    # Every sequence begins with a start or with a transition into its leaf. The final state of an episode may enter one
    # more leaf, in which no sequence follows: so entries may be more than exits, but never fewer.
    entered = np.bincount(target, moves.count, n + 1)[:n] + moves.starts
    if not moves.starts.any() or (entered < np.bincount(source, moves.count, n) + moves.censored).any():
        raise ModelFileError("a leaf is left more often than it is entered.")


def _check_weighted_moves(moves: Transitions) -> None:
    """Check that weights of transitions are possible: those of episodes lie between 0 and 1."""
    pairs = (
        ("weight", moves.weight, moves.count),
        ("weighted_steps", moves.weighted_steps, moves.steps),
        ("weighted_stays", moves.weighted_stays, moves.stays),
        ("weighted_starts", moves.weighted_starts, moves.starts),
        ("effective", moves.effective, moves.sequences),
    )
    for name, weights, counts in pairs:
        # Not a number fails the comparisons, too; sums may be off in their last digits.
        if weights is not None and not ((weights >= 0) & (weights <= counts * (1 + 1e-9))).all():
            raise ModelFileError(f"`transitions.{name}` must hold finite numbers from 0 to what was counted.")
    if moves.weight is not None and not (moves.weight > 0).all():
        raise ModelFileError("a transition has the weight 0.")


def _check_track(track: Track, fitted: Fitted) -> None:
    """Check that a track can come from the log; how large its codes are, before they are unpacked."""
    starts, bins = track.starts, track.bins.tolist()
    if not 1 <= track.n_episodes <= MOST_EPISODES or len(starts) != track.n_episodes + 1:
        raise ModelFileError(f"its track must have 1 to {MOST_EPISODES:,} episodes, and as many starts and one more.")
    # With weights, steps of weight 0 are in the track, but no samples.
    most = fitted.attributes.count[0] if fitted.attributes.weight is None else MAX_SAMPLES
    if track.weights is not None and not ((track.weights >= 0) & (track.weights <= MAX_NUMBER)).all():
        raise ModelFileError(f"`track.weights` must hold finite numbers from 0 to {MAX_NUMBER:g}.")
    if starts[0] != 0 or (starts[1:] <= starts[:-1]).any() or starts[-1] > most:
        raise ModelFileError("`track.starts` must increase from 0 to at most the number of samples in the log.")
    if (track.endings > TRUNCATED).any() or (track.finals > 1).any():
        raise ModelFileError(f"`track.endings` must be 0 to {TRUNCATED}, and `track.finals` 0 or 1.")
    if min(bins) < 1 or max(bins) > track.n_rows or sum(bins) != len(track.values):
        raise ModelFileError("`track.bins` does not fit `track.values`, or a feature has more bins than states.")
    if track.unpacked_size > MOST_BYTES:
        raise ModelFileError(
            f"its track would have {track.unpacked_size:,} bytes of codes; at most {MOST_BYTES:,} are unpacked."
        )
    for name, numbers in (("values", track.values), ("returns", track.returns)):
        # Not a number fails the comparison, too.
        if not (np.abs(numbers) <= MAX_NUMBER).all():
            raise ModelFileError(f"`track.{name}` must hold finite numbers up to {MAX_NUMBER:g}.")
    _check_names(track)
    try:
        codes = track.codes
    except ValueError as error:
        raise ModelFileError(f"its track is damaged: {error}.") from None
    ends = np.cumsum(track.bins)
    for code, size, end, low, high in zip(
        codes, bins, ends.tolist(), fitted.feature_min, fitted.feature_max, strict=True
    ):
        values, states = track.values[end - size : end], code[: track.n_samples]
        if (values[1:] <= values[:-1]).any():
            raise ModelFileError("`track.values` of a feature do not increase.")
        if code.max() >= size:
            raise ModelFileError(f"its track has a code outside 0 ... {size - 1}.")
        # Values increase, so the smallest code has the smallest one. Final states may lie outside.
        if values[states.min()] < low or values[states.max()] > high:
            raise ModelFileError("its track has a state outside the range of the features.")


def _check_names(track: Track) -> None:
    if track.first is not None and ((track.first < 0) | (track.first > MAX_SAMPLES)).any():
        raise ModelFileError(f"`track.first` holds a step outside 0 ... {MAX_SAMPLES}.")
    if track.texts is not None:
        _check_texts("track.ids", track.ids, "track.texts", track.texts)
    if track.groups is None or track.group_ends is None or track.group_texts is None:
        return
    _check_texts("track.group_ends", track.group_ends, "track.group_texts", track.group_texts)
    groups = len(track.group_ends) - 1
    if not 1 <= groups <= track.n_episodes or not np.array_equal(np.unique(track.groups), np.arange(groups)):
        raise ModelFileError("`track.groups` does not number the groups of `track.group_ends` from 0 on.")
    labels = track.group_names[1:]
    if len(set(labels)) < len(labels):
        raise ModelFileError("`track.group_texts` holds the name of a group twice.")


def _check_texts(name: str, ends: npt.NDArray[np.int64], place: str, texts: npt.NDArray[np.uint8]) -> None:
    """Check that texts end where it is said, are UTF-8, and are short."""
    # In bytes first: all names get the room of the longest.
    length = np.diff(ends, prepend=0)
    wrong = f"`{name}` must divide `{place}` into texts of at most {LONGEST_ID} characters."
    if not len(ends) or (length < 0).any() or (length > 4 * LONGEST_ID).any() or ends[-1] != len(texts):
        raise ModelFileError(wrong)
    try:
        longest = max(map(len, unpacked(ends, texts)))
    except UnicodeDecodeError:
        raise ModelFileError(f"`{place}` is not UTF-8.") from None
    if longest > LONGEST_ID:
        raise ModelFileError(wrong)
