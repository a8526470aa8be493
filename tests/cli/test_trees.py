"""Models at the command line: ``grow`` and ``info``."""

from __future__ import annotations

import re

import pytest

import tripletree
from tripletree.cli.trees import _costs


def test_grow_writes_a_model_and_says_how_good(run, tmp_path):
    told = run("grow", "run.csv", "-o", tmp_path / "m.tripletree", "--max-leaves", 30, "--theta", "0.2,0.6,0.2")
    assert told.code == 0
    tree = tripletree.load(tmp_path / "m.tripletree")
    assert told.lines[0].startswith(f"A tree of {tree.n_leaves_} leaves, grown on ")
    assert re.search(r"samples in \d+ episodes; \d+ other episodes chose its size\.$", told.lines[0])
    assert re.search(r"^What it gets wrong on \d+ unseen episodes$", told.out, re.MULTILINE)
    assert "The tree has seen all of this log: it was grown on" in told.out
    assert (tree.max_leaves, tree.theta) == (30, (0.2, 0.6, 0.2))
    assert tree.fitted_.judged is not None
    assert "--theta" in run("grow", "--help").out


def test_grow_holds_out_episodes(run, tmp_path):
    data = run("grow", "run.csv", "-o", tmp_path / "m.tripletree", "--validation", 0.25, "--json").json()
    assert set(data["losses"]) == {"training", "validation"}
    assert data["provenance"]["samples"] < 2_000
    data = run("grow", "run.csv", "-o", tmp_path / "m.tripletree", "--validation", "run.csv", "--json").json()
    assert data["provenance"]["samples"] == 2_000
    # The same episodes twice; the curve of training takes linear models as they are before they are held within range.
    training, validation = (data["losses"][side]["value"] for side in ("training", "validation"))
    assert training == pytest.approx(validation, rel=1e-3)
    assert validation <= training * (1 + 1e-9)


def test_grow_with_weights(run, tmp_path):
    model = tmp_path / "m.tripletree"
    told = run("grow", "run.csv", "-o", model, "--max-leaves", 20, "--weights", "episode")
    assert told.code == 0
    assert re.search(r"samples in \d+ episodes, weighted; \d+ other episodes chose its size\.$", told.lines[0])
    assert tripletree.load(model).fitted_.attributes.weight is not None
    assert re.search(r"episodes, weighted, sha256", run("info", model).out)
    log = tripletree.read_log("run.csv")
    log.weighted(1.0 + (log.states[:, 0] > 1)).to_csv(tmp_path / "weighted.csv")
    plain = (tmp_path / "weighted.csv").read_text().replace("sample_weight", "how_much", 1)
    (tmp_path / "named.csv").write_text(plain)
    for arguments in (["weighted.csv"], ["named.csv", "--weights", "how_much"]):
        told = run("grow", tmp_path / arguments[0], *arguments[1:], "-o", model, "--max-leaves", 20)
        assert told.code == 0, told.err
        tree = tripletree.load(model)
        assert tree.fitted_.schema.feature_names == log.schema.feature_names
        assert tree.fitted_.attributes.weight is not None
    told = run("grow", "run.csv", "-o", model, "--weights", "how_much")
    assert "There is no column `how_much` (given as --column weight)." in told.err.replace("\n", " ")


def test_grow_with_costs(run, tmp_path):
    model, given = tmp_path / "m.tripletree", ["--costs", "left, right = 5", "--costs", "right,left=2"]
    told = run("grow", "run.csv", "-o", model, "--max-leaves", 20, *given)
    assert told.code == 0, told.err
    assert "mean cost of the actions" in told.out
    assert "share of actions" not in told.out
    assert tripletree.load(model).costs == {("left", "right"): 5.0, ("right", "left"): 2.0}
    shown = run("info", model).out
    assert "5 for right in place of left, 2 for left in place of right" in " ".join(shown.split())
    assert run("info", model, "--json").json()["options"]["costs"] == {"left": {"right": 5}, "right": {"left": 2}}
    page = tmp_path / "report.html"
    assert run("report", model, "--log", "run.csv", "-o", page).code == 0
    text = page.read_text()
    assert "mean cost of unseen actions" in text
    assert "of unseen actions right" not in text
    assert "what wrong labels cost on average over all steps" in text
    assert "5 for right in place of left" in text


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (["left,right"], "`left,right` is not TRUE,TOLD=COST: an action, what it is taken for, and a number"),
        (["left=3"], "`left=3` is not TRUE,TOLD=COST"),
        (["left,right=much"], "is not TRUE,TOLD=COST"),
        (["left,rihgt=3"], "--costs names the action `rihgt`; this log has `left`, `right`. Did you mean `right`?"),
        (["left,right=-3"], "Try --costs left,right=3."),
        (["left,left=3"], "what is right costs 0. Leave it out, or type --costs left,left=0."),
        (["left,right=3", "left,right=4"], "--costs has two costs for `right` in place of `left`"),
    ],
)
def test_wrong_costs(run, tmp_path, costs, message):
    given = [part for cost in costs for part in ("--costs", cost)]
    told = run("grow", "run.csv", "-o", tmp_path / "m.tripletree", *given)
    assert told.code != 0
    assert message in " ".join(told.err.split())


def test_labels_of_costs_may_have_commas():
    labels = ("go, fast", "a=b", "stop")
    assert _costs(["go, fast,stop=3", "a=b,go, fast=2"], labels) == {("go, fast", "stop"): 3, ("a=b", "go, fast"): 2}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--column", "epsode=run"], r"`epsode` is not a role; a column can be .*Did you mean `episode`\?"),
        (["--column", "episode"], "`episode` is not ROLE=NAME."),
        (["--unit", "=m"], "`=m` is not NAME=UNIT."),
        (["--theta", "a,b,c"], "`a,b,c` is not three numbers with commas, such as 0.2,0.6,0.2"),
        (["--priority", "gane"], "'gane' is not one of 'impurity', 'gain'"),
        (["--max-leafs", "3"], "Did you mean .*--max-leaves"),
    ],
)
def test_what_cannot_be_meant_is_exit_code_2(run, tmp_path, arguments, message):
    told = run("grow", "run.csv", "-o", tmp_path / "m.tripletree", *arguments)
    assert told.code == 2
    assert re.search(message, told.err.replace("\n", " ")), told.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--max-leaves", "0"],
            "--max-leaves must be a whole number from 1 to 2,147,483,647; got 0. Try --max-leaves",
        ),
        (
            ["--theta", "0,0,0"],
            "--theta must be three non-negative numbers, not all zero, up to 1e100; got (0.0, 0.0, 0.0). Try --theta",
        ),
        (["--validation", "1.5"], "validation must be"),
        (["--validation", "nowhere.csv"], "There is no file nowhere.csv."),
        (["--column", "action=acc"], "There is no column `acc` (given as --column action)."),
        (["--encoding", "utf-99"], "There is no encoding 'utf-99'. Type --encoding utf-8"),
        (["--describe", "nowhere.toml"], "There is no file nowhere.toml."),
    ],
)
def test_what_is_wrong_with_data_is_exit_code_1(run, tmp_path, arguments, message):
    told = run("grow", "run.csv", "-o", tmp_path / "m.tripletree", *arguments)
    assert told.code == 1
    assert message in told.err
    assert "Traceback" not in told.err
    assert list(tmp_path.iterdir()) == []


def test_info_for_people_and_programs(run):
    told = run("info", "run.tripletree")
    assert told.code == 0
    assert "run.tripletree, 120 leaves" in told.lines[0]
    assert "pos (real" in told.out
    data = run("info", "run.tripletree", "--json").json()
    assert data["leaves"] == 120
    assert data["provenance"]["samples"] == 2_000
    assert data["losses"]["training"]["action"] < 0.2


@pytest.mark.parametrize(
    ("keep", "holds"),
    [
        (
            "track",
            r"states of \d+ episodes \(one byte a feature and step\): anyone who has the file can read them; grow "
            "with --keep leaves to leave them out",
        ),
        ("leaves", "no episodes of the log: only statistics of its leaves, and how often it goes from leaf to leaf"),
        ("nothing", "no episodes of the log: only statistics of its leaves"),
    ],
)
def test_info_says_what_the_file_holds_of_the_log(run, tmp_path, keep, holds):
    model = tmp_path / "m.tripletree"
    grown = run("grow", "run.csv", "-o", model, "--keep", keep, "--max-leaves", 30, "--json").json()
    data = run("info", model, "--json").json()
    assert re.fullmatch(holds, data["holds"])
    assert grown["holds"] == data["holds"]
    assert data["options"]["keep"] == keep
    assert data["transitions"] == (keep != "nothing")
    told = run("info", model)
    assert re.search(f"holds +{holds}", " ".join(told.out.split()))
    if keep == "track":
        assert data["track"]["episodes"] == data["provenance"]["episodes"]
        assert data["track"]["samples"] == data["provenance"]["samples"]
    else:
        assert data["track"] is None
    assert ("need --log" in told.err) == (keep == "nothing")


def test_a_sample_of_the_episodes_is_called_one(run, tmp_path, monkeypatch):
    model = tmp_path / "m.tripletree"
    monkeypatch.setattr("tripletree.model.track.MOST_EPISODES", 3)
    run("grow", "run.csv", "-o", model, "--max-leaves", 500, "--validation", "none", "--no-early-stopping")
    data = run("info", model, "--json").json()
    every = data["provenance"]["episodes"]
    assert data["holds"].startswith(f"states of 3 of {every} episodes (one ")
    assert tripletree.load(model).fitted_.transitions is not None


def test_info_prints_leaves_and_losses_as_csv(run):
    told = run("info", "run.tripletree", "--leaves")
    assert len(told.lines) == 121
    assert told.lines[0].startswith("leaf,node,depth,count,pos_min,pos_max")
    assert len(run("info", "run.tripletree", "--curve").lines) == 121
    assert len(run("info", "run.tripletree", "--leaves", "--json").json()["leaf"]) == 120
    assert run("info", "run.tripletree", "--leaves", "--curve").code == 2


def sizes(told):
    """The first column of the table of losses."""
    rows = told.out[told.out.index("On the episodes that chose its size") :].splitlines()[2:]
    return [int(row.split()[0].replace(",", "")) for row in rows[: rows.index("")] if row.split()[0][0].isdigit()]


def test_losses_are_shown_at_round_sizes_up_to_the_largest(run, tmp_path):
    model = tmp_path / "m.tripletree"

    def shown(*arguments):
        return sizes(run("grow", "run.csv", "-o", model, "--no-early-stopping", *arguments))

    assert shown("--max-leaves", 50) == [1, 10, 50]
    assert shown("--max-leaves", 51) == [1, 10, 50, 51]
    assert shown("--max-leaves", 1) == [1]
    assert sizes(run("info", model)) == [1]
    assert shown()[:6] == [1, 10, 50, 100, 200, 500]  # a thousand leaves are the default


def test_what_a_tree_does_on_its_own_log_is_never_shown(run, tmp_path):
    model = tmp_path / "m.tripletree"
    told = run("grow", "run.csv", "-o", model, "--validation", "none", "--max-leaves", 40)
    tree = tripletree.load(model)
    assert (tree.n_leaves_, tree.fitted_.validation_episodes) == (40, None)
    own = f"{tree.curve_['training_value'][-1]:.4g}"
    for text in (told.out, run("info", model).out):
        assert own not in text
        assert f"{tree.fitted_.judged.losses[1]:.4g}" in text
        assert "chose its size" not in text
    assert "was not measured" in run("info", "run.tripletree").out


def test_a_limit_that_was_too_low_is_told(run, tmp_path):
    told = run("grow", "run.csv", "-o", tmp_path / "m.tripletree", "--max-leaves", 10)
    assert re.search(r"note: Growth ended at the limit of 10 leaves while .* Try --max-leaves 40\.", told.err)
    told = run("grow", "run.csv", "-o", tmp_path / "m.tripletree")
    assert "Growth ended" not in told.err


def test_a_single_episode_cannot_be_held_out(run, tmp_path):
    log = tmp_path / "one.csv"
    log.write_text("episode,x,action,reward\n" + "\n".join(f"1,{k},{k % 2},{k % 3}" for k in range(30)))
    told = run("grow", log, "-o", tmp_path / "m.tripletree")
    assert told.code == 0
    assert "note: The log has 1 episode, too few to hold some of them out" in told.err
    assert "too few episodes to put some of them aside" in told.out


def test_a_size_that_was_chosen_is_shown_among_the_others(run, tmp_path):
    model = tmp_path / "m.tripletree"
    told = run("grow", "run.csv", "-o", model, "--validation", "0.25", "--max-leaves", "60")
    kept = tripletree.load(model).n_leaves_
    assert sizes(told) == sorted({1, 10, 50, kept, 60})


def test_stretches_and_groups_are_named(run, tmp_path, monkeypatch):
    rows = ["pilot,run,step,pos,action,reward"]
    for pilot, flight in (("Al", 1), ("Bo", 2), ("Al", 3), ("Bo", 4), ("Cy", 5), ("Cy", 6)):
        rows += [f"{pilot},{flight},{step},{(step * flight) % 7},{step % 2},1" for step in range(40)]
    log, model = tmp_path / "flights.csv", tmp_path / "m.tripletree"
    log.write_text("\n".join(rows))
    grow = ["grow", log, "-o", model, "--column", "group=pilot", "--validation", "none", "--no-early-stopping"]
    grow += ["--column", "episode=run"]
    grown = run(*grow)
    assert grown.code == 0, (grown.err, grown.failure)
    holds = run("info", model, "--json").json()["holds"]
    assert holds.startswith(
        "states of 6 episodes, and of which 3 groups (`pilot`) they are (one byte a feature and step)"
    )
    said = run(
        "chance", model, "--reach", "pos > 5", "--given", "pilot = Al or Bo and after (pos > 1)", "--from", "pos < 3"
    )
    assert said.out.startswith(
        "In episodes with pilot = Al or Bo, after having been at pos > 1: 4 of 4 recorded episodes "
    )
    assert "from 2 groups (`pilot`)" in " ".join(said.out.split())
    wrong = run("grow", log, "-o", model, "--column", "group=step", "--column", "episode=run", "--ignore", "pilot")
    assert "Episode 1 has the group `0` and `1` (`step`); an episode has one group" in " ".join(wrong.err.split())
    assert "leave --column group out" in " ".join(wrong.err.split())
    monkeypatch.setattr("tripletree.model.track.Track.of.__func__.__defaults__", (35,))
    grown = run(*grow)
    assert grown.code == 0, (grown.err, grown.failure)
    holds = run("info", model, "--json").json()["holds"]
    assert holds.startswith("no episodes of the log, for which there was no room: ")
    monkeypatch.setattr("tripletree.model.track.Track.of.__func__.__defaults__", (40,))
    grown = run(*grow)
    assert grown.code == 0, (grown.err, grown.failure)
    holds = run("info", model, "--json").json()["holds"]
    assert holds.startswith(
        "states of 18 stretches of 1 step each, cut out of recordings that are too long to be kept "
    )


def test_a_condition_at_the_command_line(run):
    model = "run.tripletree"
    asked = run("chance", model, "--reach", "end", "--within", 20, "--given", "length > 20", "--json").json()
    assert asked["seen"]["given"] == "length > 20"
    assert asked["chain"] is None
    for question in (["--reach", "end", "--steps"], ["--after", 5], ["--occupancy"]):
        assert run("chance", model, *question, "--given", "length > 20").out.startswith(
            "In episodes with length > 20: "
        )
    wrong = run("chance", model, "--reach", "end", "--given", "lenght > 20")
    assert wrong.code == 1
    assert "--given has no `lenght`; it may have `return`, `length`" in " ".join(wrong.err.split())
    wrong = run("chance", model, "--unreachable", "--given", "length > 20")
    assert (wrong.code, "--given chooses episodes to count" in wrong.err) == (2, True)
