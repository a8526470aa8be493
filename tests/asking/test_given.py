"""Conditions on episodes against loops over their steps, and in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import make_log, random_log
from tripletree import Log, ParameterError, TripleTree
from tripletree.asking.given import Given
from tripletree.log.log import ENDING_NAMES, TERMINATED
from tripletree.log.recording import Recording
from tripletree.questions.evidence import Evidence


@pytest.fixture(scope="module")
def tree() -> TripleTree:
    return TripleTree(6, keep="nothing").fit(random_log(1, lengths=(40, 50, 60), labels=3))


def world(seed: int, episodes: int) -> Log:
    rng = np.random.default_rng(seed)
    log = random_log(seed, lengths=tuple(rng.integers(1, 9, episodes).tolist()), labels=3)
    names = np.array(["7", "x y", "return", "n"])
    ids = names[rng.integers(0, 4, episodes)] if seed % 2 else np.arange(episodes)
    return replace(
        log, episode_ids=ids, groups=np.array(["a", "b", "c"])[rng.integers(0, 3, episodes)], group_name="pilot"
    )


def asked(tree: TripleTree, log: Log, condition: Any) -> Given:
    found = Evidence.of(tree.fitted_, Recording.of(log)).given(condition)
    assert found is not None
    return found


def by_hand(log: Log, condition: str, edge: float) -> list[bool]:
    """Follow every episode step by step; the answer for each row."""
    found = []
    for e in range(log.n_episodes):
        rows = range(log.starts[e], log.starts[e + 1])
        inside = [log.states[row, 0] > edge for row in rows]
        final = not np.isnan(log.final_states[e, 0]) and log.final_states[e, 0] > edge
        gained = sum(log.rewards[row] for row in rows)
        for number in range(len(rows)):
            visited, been = any(inside) or final, any(inside[: number + 1])
            found.append(
                {
                    "return": gained < edge,
                    "length": 3 <= len(rows) < 6,
                    "ending": ENDING_NAMES[log.endings[e]] != "truncated",
                    "episode": str(log.episode_ids[e]) in ("7", "2"),
                    "group": log.groups is not None and log.groups[e] in ("a", "c"),
                    "visits": visited,
                    "never": not visited,
                    "over": log.endings[e] == TERMINATED,
                    "after": been,
                    "not after": not been,
                    "mixed": (been and gained < edge) or not (visited or len(rows) < 4),
                }[condition]
            )
    return found


def texts(log: Log, edge: float) -> dict[str, str]:
    known = [name for name in ("7", "2") if name in log.episode_ids.astype(str)]
    return {
        "return": f"return < {edge}",
        "length": "length in [3, 6)",
        "ending": "ending != truncated",
        **({"episode": f"episode in {{{', '.join(known)}}}"} if known else {}),
        **({"group": "pilot = a or c"} if {"a", "c"} <= set(log.groups) else {}),  # type: ignore[arg-type]
        "visits": f"visits (x0 > {edge})",
        "never": f"never visits (x0 > {edge})",
        "over": "visits (end)",
        "after": f"after (x0 > {edge})",
        "not after": f"not after (x0 > {edge})",
        "mixed": f"after (x0 > {edge}) and return < {edge} or not (visits (x0 > {edge}) or length < 4)",
    }


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.sampled_from([-1.5, 0.0, 0.75]))
@settings(max_examples=40, deadline=None)
def test_every_clause_against_a_loop(tree: TripleTree, seed: int, episodes: int, edge: float) -> None:
    log = world(seed, episodes)
    for name, text in texts(log, edge).items():
        found = asked(tree, log, text)
        assert found.rows.tolist() == by_hand(log, name, edge), text
        moments = name in ("after", "not after", "mixed")
        assert (found.episodes is None) == moments
        if found.episodes is not None:
            np.testing.assert_array_equal(found.rows, np.repeat(found.episodes, np.diff(log.starts)))
        # The text can be asked again.
        np.testing.assert_array_equal(asked(tree, log, found.text).rows, found.rows)
        assert found.hindsight == (name not in ("episode", "group", "after", "not after"))


def test_an_array_chooses_episodes(tree: TripleTree) -> None:
    log = world(4, 3)
    found = asked(tree, log, [True, False, True])
    assert (found.text, found.words, found.hindsight) == ("2 of 3 episodes", "in 2 of 3 episodes", False)
    np.testing.assert_array_equal(found.rows, np.repeat([True, False, True], np.diff(log.starts)))


@pytest.mark.parametrize("wrong", [3, [True, False], [0, 1, 1], {"return": (0, 1)}, np.ones((3, 1), bool)])
def test_other_things_are_refused(tree: TripleTree, wrong: Any) -> None:
    with pytest.raises(
        ParameterError, match=r'given must be text such as given="return < 100", or an array .* 3 episodes; got'
    ):
        asked(tree, world(4, 3), wrong)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("return < 100", "in episodes with return < 100"),
        ("return < 100 and length >= 5", "in episodes with return < 100 and length >= 5"),
        ("ending = terminated or unknown", "in episodes with ending = terminated or unknown"),
        ("episode = 1", "in episodes with id = 1"),
        ("group = a", "in episodes with pilot = a"),
        ("visits (x0 > 1), never visits (end)", "in episodes that visit x0 > 1 and never visit the end"),
        ("return > 1 and visits (x0 > 1)", "in episodes with return > 1 that visit x0 > 1"),
        ("after (x0 > 1)", "after having been at x0 > 1"),
        ("not after (leaf 3) and after (x1 < 2)", "without having been at leaf 3 and after having been at x1 < 2"),
        ("return > 1 and after (x1 < 2)", "in episodes with return > 1, after having been at x1 < 2"),
        ("return > 1 or length < 3", "given return > 1 or length < 3"),
        ("not return > 1", "given not return > 1"),
    ],
)
def test_in_words(tree: TripleTree, text: str, words: str) -> None:
    log = replace(world(4, 3), groups=np.array(["a", "a", "b"]))
    assert asked(tree, log, text).words == words


def test_nothing_is_after_the_end(tree: TripleTree) -> None:
    with pytest.raises(ParameterError, match=r"given has `after \(end\)`, but nothing follows the end"):
        asked(tree, world(4, 3), "after (end)")
    with pytest.raises(ParameterError, match=r"given has no `foo`; it may have `x0`"):
        asked(tree, world(4, 3), "visits (foo > 1)")


def test_a_feature_may_be_called_like_a_word_of_the_grammar() -> None:
    states: npt.NDArray[np.float64] = np.array([[0.0], [5], [1], [2]])
    log = make_log(states, [0, 1, 0, 1], [1, 1, 7, 7], [0, 2, 4], labels=("a", "b"), names=("return",))
    tree = TripleTree(2, keep="nothing").fit(log)
    assert asked(tree, log, "return > 4").episodes == pytest.approx([False, True])
    assert asked(tree, log, "visits (return > 4)").episodes == pytest.approx([True, False])
    assert asked(tree, log, "after (return > 4) and return < 4").rows.tolist() == [False, True, False, False]


def test_zones_of_conditions_may_be_several_boxes(tree: TripleTree) -> None:
    log = world(4, 30)
    first, second = log.schema.feature_names[:2]
    a, b = log.states[:, 0], log.states[:, 1]
    for zone, rows in (
        (f"{first} > 0.5 or {second} > 0.8", (a > 0.5) | (b > 0.8)),
        (f"not ({first} < 0.2 or {second} > 0.3)", (a >= 0.2) & (b <= 0.3)),
        (f"{first} in [0.2, 0.4) or not {first} < 0.9", ((a >= 0.2) & (a < 0.4)) | (a >= 0.9)),
        (f"{first} < 0.3 and ({second} > 0.5 or {second} < 0)", (a < 0.3) & ((b > 0.5) | (b < 0))),
    ):
        been = asked(tree, log, f"after ({zone})").rows
        for begin, end in zip(log.starts[:-1], log.starts[1:], strict=True):
            assert (been[begin:end] == np.logical_or.accumulate(rows[begin:end])).all()
    words = asked(tree, log, f"visits ({first} > 0.5 or {second} > 0.8)").words
    assert words == f"in episodes that visit {first} > 0.5 or {second} > 0.8"
