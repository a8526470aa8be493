"""A tree and another log: its actions are known by their labels, or by the codes that stand for them in the source."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tripletree import TripleTree, load
from tripletree.log import Log, read_log
from tripletree.model.evaluate import in_labels, known_codes

RNG = np.random.default_rng(0)
STATES = RNG.normal(size=(60, 2))
CODES = (STATES[:, 0] > 0).astype(int) + (STATES[:, 1] > 1)
NAMES = {0: "left", 1: "right", 2: "stay"}


def record(actions: Any = CODES, **options: Any) -> Log:
    return Log.from_arrays(
        STATES, actions, STATES[:, 1], episodes=np.arange(60) // 10, final_states=np.zeros((6, 2)), **options
    )


LABELLED = record(labels=NAMES)
TREE = TripleTree(6, truncation="paper").fit(LABELLED)


def test_a_log_remembers_the_codes_of_its_labels(tmp_path: Path) -> None:
    assert LABELLED.schema.action.codes == ("0", "1", "2")
    assert record().schema.action.codes == ()
    assert record(labels={0: "0", 1: "1", 2: "2"}).schema.action.codes == ()
    assert record(labels=["left", "right", "stay"]).schema.action.codes == ("0", "1", "2")
    assert record(CODES > 0, labels=["no", "yes"]).schema.action.codes == ("False", "True")
    LABELLED.to_npz(tmp_path / "log.npz")
    assert read_log(tmp_path / "log.npz").schema == LABELLED.schema


def test_the_codes_are_no_part_of_the_content() -> None:
    words = record(np.array(list(NAMES.values()))[CODES])
    assert words.schema.action.codes == ()
    assert words.fingerprint() == LABELLED.fingerprint()


@pytest.mark.parametrize(
    "log",
    [
        record(),
        record(CODES.astype(np.uint8)),
        record(CODES.astype(str)),
        record(np.array(list(NAMES.values()))[CODES]),
        record(labels={2: "stay", 1: "right", 0: "left"}),
        record(labels={0: "links", 1: "rechts", 2: "halt"}),
    ],
    ids=["codes", "bytes", "text", "labels", "another order", "other labels"],
)
def test_every_way_to_write_the_actions(log: Log, tmp_path: Path) -> None:
    TREE.save(tmp_path / "m.tripletree")
    again = load(tmp_path / "m.tripletree")
    assert again.fitted_.schema == LABELLED.schema
    for tree in (TREE, again):
        assert known_codes(tree.fitted_, log).tolist() == CODES.tolist()
        assert tree.losses(log).tolist() == TREE.losses(LABELLED).tolist()
        assert str(tree.rules(log=log)) == str(TREE.rules(log=LABELLED))
        assert tree.calibration(log, about="confidence").observed.tolist() == (
            TREE.calibration(LABELLED, about="confidence").observed.tolist()
        )


def test_the_log_itself_with_other_codes_is_the_training_log() -> None:
    assert in_labels(LABELLED.schema, record()).fingerprint() == LABELLED.fingerprint()
    assert TREE.held_out(record()).to_dict() == TREE.held_out(LABELLED).to_dict()


def test_a_report_speaks_in_labels(tmp_path: Path) -> None:
    pages = []
    for log in (record(), LABELLED):
        TREE.report(log, tmp_path / "report.html")
        # How the log was read is quoted as it is.
        pages.append(re.sub(r"<pre[^>]*>Read .*?</pre>", "", (tmp_path / "report.html").read_text(), flags=re.DOTALL))
    assert "3 labels: 0, 1, 2" not in pages[0]
    assert pages[0] == pages[1]


def test_a_validation_log_may_have_codes() -> None:
    raw = TripleTree(6, truncation="paper").fit(LABELLED, record())
    assert raw.curve_["validation_action"].tolist() == raw.curve_["training_action"].tolist()


def test_a_tree_of_codes_knows_labels() -> None:
    tree = TripleTree(6, truncation="paper").fit(record())
    assert known_codes(tree.fitted_, LABELLED).tolist() == CODES.tolist()


def test_codes_that_the_tree_has_never_seen_stay_unknown() -> None:
    actions = np.where(np.arange(60) % 5 == 0, 7, CODES)
    log = in_labels(LABELLED.schema, record(actions))
    assert log.schema.action.labels == ("left", "right", "stay", "7")
    assert log.schema.action.codes == ("0", "1", "2", "7")
    assert known_codes(TREE.fitted_, log).tolist() == np.where(actions == 7, -1, CODES).tolist()


@pytest.mark.parametrize("times", [1, 2, 3])
def test_labels_that_are_also_codes(times: int) -> None:
    """0 and 1 change places in the names: a log without labels holds codes, one with labels holds labels."""
    swapped = record(CODES % 2, labels={0: "1", 1: "0"})
    tree = TripleTree(6, truncation="paper").fit(swapped)
    for log in (swapped, record(CODES % 2)):
        for _ in range(times):
            log = in_labels(swapped.schema, log)
        assert known_codes(tree.fitted_, log).tolist() == (CODES % 2).tolist()


def test_what_has_nothing_in_common_stays_as_it_is() -> None:
    for log in (record(CODES + 10), record(np.array(["up", "down", "jump"])[CODES]), record(STATES)):
        assert in_labels(LABELLED.schema, log) is log
