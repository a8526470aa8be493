"""Every question against what the tree itself answers in Python."""

from __future__ import annotations

import base64
import inspect
import json
import threading

import numpy as np
import pytest

from tests.server.conftest import act
from tripletree import diff, failures, require
from tripletree.about_logs import finders
from tripletree.answers.answer import plain
from tripletree.demos import road
from tripletree.frontend.payload import payload
from tripletree.scenes.leaf_map import leaf_map
from tripletree.scenes.view import read_view
from tripletree.web.ask import QUESTIONS, Desk, ask
from tripletree.web.errors import AskError
from tripletree.web.house import House
from tripletree.web.jobs import Jobs

STATE = [1.2, 0.03]
FOIL = "acc = -0.001"
HERE, THERE = "pos > 1 and pos < 1.5", {"pos": [0, 0.3]}


def unpacked(value):
    """Return an answer with its arrays, as the browser has it."""
    if isinstance(value, dict):
        if set(value) == {"dtype", "shape", "data"}:
            return np.frombuffer(base64.b64decode(value["data"]), f"<{value['dtype']}").reshape(value["shape"])
        return {name: unpacked(part) for name, part in value.items()}
    return [unpacked(part) for part in value] if isinstance(value, list) else value


# A question, its arguments, and the same in Python.
SAME = {
    "predict": ({"state": STATE}, lambda tree, log: tree.predict(STATE)),
    "explain": ({"state": STATE, "about": "value"}, lambda tree, log: tree.explain(STATE, about="value")),
    "counterfactual": (
        {"state": STATE, "foil": FOIL, "k": 3},
        lambda tree, log: tree.explain(STATE, FOIL, k=3),
    ),
    "attribute": ({"state": STATE, "about": "value"}, lambda tree, log: tree.attribute(STATE, "value")),
    "futures": ({"start": STATE}, lambda tree, log: tree.futures(STATE, log=log)),
    "chance": (
        {"reach": THERE, "start": HERE, "within": 40},
        lambda tree, log: tree.chance({"pos": (0, 0.3)}, HERE, within=40, log=log),
    ),
    "steps": ({"reach": "end", "start": STATE}, lambda tree, log: tree.expected_steps("end", STATE, log=log)),
    "importance": ({}, lambda tree, log: tree.importance()),
    "agent": ({"state": STATE}, lambda tree, log: tree.disagreement(act, state=STATE)),
}
TOLD = {
    "after": ({"steps": 5, "start": STATE}, lambda tree, log: tree.after(5, STATE, log=log)),
    "through": ({"start": HERE}, lambda tree, log: tree.visits(HERE, log=log)),
    "episodes": ({"given": "return > 3"}, lambda tree, log: tree.episodes("return > 3", log=log)),
    "episode": ({"episode": 4}, lambda tree, log: tree.story(4, log=log)),
    "machine": ({"regions": 5}, lambda tree, log: tree.outline(log, regions=5)),
    "agreement": ({}, lambda tree, log: tree.disagreement(act, log=log)),
    "summary": ({}, lambda tree, log: tree.summary(log)),
    "rules": ({"about": "value"}, lambda tree, log: tree.rules(about="value", log=log)),
}


@pytest.mark.parametrize("question", [*SAME, *TOLD])
def test_answers_are_those_of_the_tree(house, tree, log, question):
    args, python = {**SAME, **TOLD}[question]
    found, wanted = ask(house, question, args), python(tree, log)
    assert found["text"] == str(wanted)
    assert found["python"].startswith("tree.")
    if question in SAME:
        assert unpacked(found["data"]) == plain(wanted.to_dict())
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    "question", ["predict", "explain", "counterfactual", "futures", "chance", "episodes", "through"]
)
def test_the_line_of_python_gives_the_same(house, tree, log, question):
    args, _ = {**SAME, **TOLD}[question]
    found = ask(house, question, {**args, "model": "a/20"})
    assert str(eval(found["python"], {"tree": tree, "log": log})) == found["text"]


def test_every_question_is_known_to_a_test(house):
    asked = {
        *SAME,
        *TOLD,
        "hello",
        "tree",
        "facts",
        "foil",
        "map",
        "ticks",
        "samples",
        "recorded",
        "novelty",
        "routes",
        "leaf",
        "curve",
    }
    asked |= {"regrow", "progress", "cancel", "compare", "frame", "diff", "failures", "require", "report", "check"}
    assert set(QUESTIONS) == asked


def test_tree_and_facts_are_the_payload_of_the_report(house, tree, log):
    found = {**ask(house, "tree"), **ask(house, "facts")}
    wanted = plain(payload(tree.fitted_, log=log))
    found = json.loads(json.dumps(plain(found)))
    assert found.pop("called") == "tree"
    assert ask(house, "tree", {"model": "b/7"})["called"] == "tree2.truncate(7)"
    assert {**found, "start": None} == json.loads(json.dumps({**wanted, "start": None}))
    # The first state is one that was recorded.
    assert (np.abs(log.states - found["start"]).sum(axis=1) == 0).any()
    foil = ask(house, "foil", {"foil": FOIL})
    usual = found["foils"][foil["name"]]
    told = [foil["texts"][k] for k in foil["foil"]["support"] if k >= 0]
    assert told == [found["texts"][k] for k in usual["support"] if k >= 0]


def test_maps_are_the_scenes_that_are_drawn(house, tree, log):
    args = {"x": "pos", "y": "speed", "colour": "value", "arrows": True}
    found = unpacked(ask(house, "map", args)["scene"])
    wanted = leaf_map(read_view(tree, "pos", "speed"), "value", arrows=True, log=log).to_dict()
    assert found["title"] == wanted["title"]
    assert found["note"] == wanted["note"]
    assert [mark["type"] for mark in found["marks"]] == [mark["type"] for mark in wanted["marks"]]
    for mine, theirs in zip(found["marks"], wanted["marks"], strict=True):
        for name in ("x0", "y1", "leaf", "dx", "hidden"):
            if theirs.get(name) is not None:
                assert np.array_equal(np.asarray(mine[name]), np.asarray(theirs[name]))
    tiles = found["marks"][0]
    assert tiles["value"] == pytest.approx(np.array(wanted["marks"][0]["value"]), rel=1e-6)
    assert tiles["code"].max() < len(found["palette"])
    assert found["bar"]["ticks"]
    one = ask(house, "map", {"x": "pos", "colour": "action", "model": "b/5"})["scene"]
    assert one["entries"]
    sliced = ask(house, "map", {"x": "pos", "y": "speed", "colour": "action", "where": None, "at": STATE})
    assert "at=[1.2, 0.03]" in sliced["python"]


def test_recorded_states_are_those_of_the_log(house, log):
    found = unpacked(ask(house, "recorded", {"most": 50}))["states"]
    assert found.shape == (50, 2)
    assert {tuple(state) for state in found} <= {tuple(state) for state in log.states}
    assert (found[0] == log.states[0]).all()
    assert (found[-1] == log.states[-1]).all()


def test_a_state_far_from_all_others_is_warned_of(house, tree):
    for state, warned in ((STATE, False), ([1.2, 0.5], True)):
        found = ask(house, "novelty", {"state": state})
        assert found["novelty"] == pytest.approx(float(tree.novelty(state)))
        assert found["text"].startswith("Nobody has been near this state") is warned


def test_samples_lie_where_their_episodes_say(house, log):
    found = unpacked(ask(house, "samples", {"x": "speed", "y": "pos", "most": 100}))
    rows = log.starts[found["episode"]] + found["step"]
    assert np.array_equal(found["x"], log.states[rows, 1])
    assert np.array_equal(found["y"], log.states[rows, 0])


def test_alternatives_of_a_counterfactual(house):
    found = ask(house, "counterfactual", {"state": STATE, "foil": FOIL, "k": 3})
    assert len(found["answers"]) > 1
    assert found["text"].startswith(found["answers"][0]["text"].split(" The log")[0])
    held = ask(house, "counterfactual", {"state": STATE, "foil": FOIL, "fixed": ["speed"]})
    assert all(one["changed"] == ["pos"] for one in held["answers"])
    checked = ask(house, "counterfactual", {"state": STATE, "foil": FOIL, "verify": True, "k": 1})
    assert checked["answers"][0]["agent"] == "-0.001"


def test_routes_are_counted_and_nobody_is_said_plainly(house, tree, log):
    found = ask(house, "routes", {"start": HERE, "end": THERE, "ways": 5})
    chance = tree.chance({"pos": (0, 0.3)}, HERE, log=log)
    assert found["chance"]["text"] == str(chance)
    assert found["chance"]["interval"] == chance.interval.tolist()
    assert not found["nobody"]
    assert 1 <= len(found["ways"]) <= 5
    assert sum(way["share"] for way in found["ways"]) == pytest.approx(1)
    first = found["ways"][0]
    states, source = unpacked(first["states"]), first["sources"][0]
    rows = log.starts[source["episode"]] + np.arange(source["first"], source["last"] + 1)
    assert np.array_equal(np.array(states), log.states[rows])
    none = ask(house, "routes", {"start": "pos < 0.3", "end": "pos > 2.9 and speed < -0.05"})
    assert none["nobody"]
    assert none["ways"] == []
    assert "none reached" in none["text"]


def test_episode_step_by_step(house, tree, log):
    found = unpacked(ask(house, "episode", {"episode": 7}))
    begin, end = log.starts[7:9]
    assert np.array_equal(found["states"], log.states[begin:end])
    assert np.array_equal(np.ravel(found["leaf"]), tree.apply(log.states[begin:end]))
    assert np.array_equal(np.ravel(found["action"]["recorded"]), log.actions[begin:end])
    labels = np.array(found["action"]["labels"])[np.ravel(found["action"]["predicted"]).astype(int)]
    assert labels.tolist() == tree.predict(log.states[begin:end]).action.tolist()
    wanted = tree.explain_changes(log.states[begin:end])
    assert [(one["step"], one["text"]) for one in found["changes"]] == [
        (int(step), str(change)) for step, change in zip(wanted.step, wanted, strict=True)
    ]
    assert found["phases"][0]["begin"] == 0
    assert found["phases"][-1]["end"] == end - begin


def test_episodes_sorted_filtered_and_in_parts(house, log):
    returns = np.add.reduceat(log.rewards, log.starts[:-1])
    found = ask(house, "episodes", {"sort": "return", "descending": True, "count": 5, "first": 5})
    assert [row["return"] for row in found["rows"]] == pytest.approx(sorted(returns, reverse=True)[5:10])
    assert found["shown"] == found["total"] == log.n_episodes
    good = ask(house, "episodes", {"given": "return > 3", "success": "length > 30", "spark": "speed"})
    assert [row["episode"] for row in good["rows"]] == np.flatnonzero(returns > 3).tolist()
    assert all(row["outcome"] == (row["length"] > 30) for row in good["rows"])
    row = good["rows"][0]
    assert row["spark"][0] == pytest.approx(log.states[log.starts[row["episode"]], 1], rel=1e-3)
    with pytest.raises(AskError, match="`after` is about moments"):
        ask(house, "episodes", {"given": "after (pos < 1)"})


def test_machine_of_phases_and_of_leaves(house, tree, log):
    found = ask(house, "machine")
    outline = tree.outline(log)
    assert [node["text"] for node in found["nodes"]] == [str(one) for one in outline.regions]
    assert sorted(np.concatenate([unpacked(node["leaves"]) for node in found["nodes"]]).tolist()) == list(range(60))
    counts = [edge["count"] for edge in found["edges"]]
    assert counts == sorted(counts, reverse=True)
    follows = {
        (f"p{one.number}", "end" if to is None else f"p{to}"): share
        for one in outline.regions
        for to, share in one.following
    }
    assert {(edge["from"], edge["to"]) for edge in found["edges"]} == set(follows)
    leaves = ask(house, "machine", {"level": "leaves", "most": 30})
    moves = tree.transitions(log)
    known = {(int(s), int(t)): p for s, t, p in zip(moves.source, moves.target, moves.probability, strict=True)}
    for edge in leaves["edges"]:
        target = moves.end if edge["to"] == "end" else int(edge["to"][1:])
        assert edge["share"] == pytest.approx(known[int(edge["from"][1:]), target])
    part = ask(house, "machine", {"level": "leaves", "region": 0, "most": 30})
    assert {node["region"] for node in part["nodes"]} == {0}
    for edge in part["edges"]:
        target = moves.end if edge["to"] == "end" else int(edge["to"][1:])
        assert edge["share"] == pytest.approx(known[int(edge["from"][1:]), target])


def test_leaf_with_its_way_from_the_root(house, tree):
    found = ask(house, "leaf", {"leaf": 7})
    lower, _ = tree.fitted_.bounds
    assert found["box"]["lower"] == plain(lower[7])
    assert len(found["path"]) == int(tree.tree_.depth[tree.tree_.leaf_nodes[7]])
    assert int(tree.apply(found["state"])) == 7
    assert sum(one["share"] for one in found["next"]) <= 1 + 1e-9


def test_sizes_are_handles_that_stay(house, tree):
    assert ask(house, "predict", {"model": "a/5", "state": STATE})["text"] == str(tree.truncate(5).predict(STATE))
    found = unpacked(ask(house, "curve", {"model": "a/5"}))
    assert found["kept"] == 5
    assert found["most"] == 60
    at = list(found["leaves"]).index(60)
    assert list(found["training"]["value"])[at] == pytest.approx(tree.curve_["training_value"][59])
    for handle, kind in (
        ("a/61", "mistake"),
        ("c", "gone"),
        ("a~9", "gone"),
        ("a/0", "gone"),
        (3, "gone"),
        ("a/../b", "gone"),
    ):
        with pytest.raises(AskError) as caught:
            ask(house, "predict", {"model": handle, "state": STATE})
        assert caught.value.kind == kind


def finished(house, job):
    """Return a job when it is over."""
    for _ in range(600):
        found = ask(house, "progress", {"job": job})
        if found["state"] not in ("waiting", "running"):
            return found
        threading.Event().wait(0.05)
    raise AssertionError(found)


def test_grown_again_with_other_weights(house, tree, log):
    job = ask(house, "regrow", {"theta": [1, 0, 0], "leaves": 15})
    found = finished(house, job["job"])
    assert found["state"] == "done"
    wanted = type(tree)(**{**tree.get_params(), "theta": (1.0, 0.0, 0.0), "max_leaves": 15}).fit(log)
    handle = found["answer"]["model"]
    assert handle.startswith("a~")
    assert ask(house, "predict", {"model": handle, "state": STATE})["text"] == str(wanted.predict(STATE))
    assert ask(house, "predict", {"model": f"{handle}/3", "state": STATE})["data"]["leaf"] < 3
    # The first model has stayed what it was.
    assert ask(house, "predict", {"state": STATE})["text"] == str(tree.predict(STATE))
    for theta in ([0, 0, 0], [1, 1], [1, -1, 1], "1,1,1"):
        with pytest.raises(AskError, match="theta"):
            ask(house, "regrow", {"theta": theta})


def test_jobs_end_when_they_are_asked_to():
    jobs, begun, go = Jobs(), threading.Event(), threading.Event()

    def work(progress):
        begun.set()
        go.wait(20)
        for k in range(1000):
            progress(k, 1000)
        return {}

    first, second = jobs.begin("one", "Working.", work), jobs.begin("two", "Working.", work)
    assert begun.wait(20)
    assert jobs.cancel(second.name).state == "cancelled"
    jobs.cancel(first.name)
    go.set()
    jobs.close()
    assert first.state == "cancelled"
    assert second.state == "cancelled"
    with pytest.raises(AskError, match="not known"):
        jobs.find("j99")


def test_mistakes_of_ours_end_a_job_too():
    jobs = Jobs()
    job = jobs.begin("one", "Working.", lambda _: {}["nothing"])
    jobs.close()
    assert job.state == "failed"
    assert job.error.kind == "fault"
    assert "KeyError" in job.error.text


def test_report_as_text(house):
    found = finished(house, ask(house, "report", {"title": "A <b>road</b>"})["job"])
    assert found["state"] == "done"
    assert found["answer"]["html"].startswith("<!doctype html>")
    assert "A &lt;b&gt;road&lt;/b&gt;" in found["answer"]["html"]


def test_failures_with_their_zones(tree, log):
    house = House(tree, log=log, finders=finders())
    assert ask(house, "hello")["can"]["failures"]
    found = finished(house, ask(house, "failures", {"when": "return < 2"})["job"])
    assert found["state"] == "done", found
    wanted = failures(log, "return < 2")
    assert found["answer"]["text"] == str(wanted)
    assert len(found["answer"]["zones"]) == len(wanted.routes)
    assert len(found["answer"]["cases"]) == len(wanted.cases)
    with pytest.raises(AskError, match="between two logs"):
        ask(house, "diff")
    house.close()


def test_requirements_with_their_worst_episodes(tree, log):
    house = House(tree, log=log, finders=finders())
    assert ask(house, "hello")["can"]["require"]
    found = finished(house, ask(house, "require", {"requirement": "always (pos < 2)"})["job"])
    assert found["state"] == "done", found
    wanted = require(log, "always (pos < 2)")
    assert found["answer"]["text"] == str(wanted)
    worst = found["answer"]["cases"][0]
    number = wanted[0].worst[0].number
    last = int(log.starts[number + 1] - log.starts[number]) - 1
    assert (worst["episode"], worst["step"]) == (number, min(wanted[0].worst[0].step, last))
    assert worst["text"].startswith(f"Episode {wanted[0].worst[0].episode} at step")
    wrong = finished(house, ask(house, "require", {"requirement": "pos < 2"})["job"])
    assert "does not say when `pos < 2` must hold" in wrong["error"]["text"]
    house.close()


def test_what_changed_between_two_logs(tree, log):
    newer = road.record("left", n_samples=2_000, seed=1)
    house = House(tree, log=log, other_log=newer, finders=finders())
    assert ask(house, "hello")["can"]["diff"]
    found = finished(house, ask(house, "diff", {"a": "a", "b": "b"})["job"])
    wanted = diff(log, newer)
    assert found["answer"]["text"] == str(wanted)
    assert len(found["answer"]["zones"]) == sum(len(cause.regions) for cause in wanted.causes) > 0
    house.close()


def test_two_models_compared(house, tree, other, log):
    found = ask(house, "compare")
    assert found["text"] == str(tree.disagreement(other, log=log))
    assert found["python"] == "tree.disagreement(tree2, log=log)"
    worst = found["worst"][0]
    assert str(tree.predict(worst["state"]).action) == worst["tree"] != worst["other"]


def test_what_is_missing_is_named(bare):
    for question, args, needs in (
        ("regrow", {"theta": [1, 1, 1]}, "log"),
        ("summary", {}, "log"),
        ("report", {}, "log"),
        ("agreement", {}, "agent"),
        ("agent", {"state": STATE}, "agent"),
        ("compare", {}, "second"),
        ("predict", {"model": "b", "state": STATE}, "second"),
        ("frame", {"episode": 0, "step": 0}, "agent"),
    ):
        with pytest.raises(AskError, match="Start it with") as caught:
            ask(bare, question, args)
        assert (caught.value.kind, caught.value.needs) == ("needs", needs)
    assert not any(ask(bare, "hello")["can"].values())
    # The track is enough for the rest, and says what it cannot know.
    found = ask(bare, "through", {"start": HERE})
    assert found["actions"] is None
    assert "--log" in found["actionsText"]
    assert ask(bare, "episode", {"episode": 3})["action"]["recorded"] is None
    assert "Told by what the tree predicts" in ask(bare, "machine")["text"]
    assert ask(bare, "routes", {"start": HERE, "end": "end"})["ways"]


def test_a_model_that_keeps_nothing_still_answers(tree, log):
    house = House(type(tree)(20, keep="nothing").fit(log))
    assert ask(house, "explain", {"state": STATE})["text"]
    assert ask(house, "map", {"x": "pos", "y": "speed"})["scene"]["marks"]
    assert ask(house, "leaf", {"leaf": 0})["next"] == []
    for question, args in (
        ("futures", {"start": STATE}),
        ("episodes", {}),
        ("machine", {}),
        ("routes", {"start": HERE, "end": "end"}),
    ):
        with pytest.raises(AskError, match="keeps none") as caught:
            ask(house, question, args)
        assert caught.value.needs == "log"
    house.close()


def test_typed_text_is_read_or_refused(house):
    zone = ask(house, "check", {"kind": "zone", "text": "pos >= 1 and pos < 2"})
    assert zone["ok"]
    assert zone["zone"] == {"pos": [1.0, 2.0]}
    state = ask(house, "check", {"kind": "state", "text": "pos = 1"})
    assert state["state"][0] == 1
    assert list(state["assumed"]) == ["speed"]
    assert ask(house, "check", {"kind": "given", "text": "return > 3"})["episodes"] > 0
    assert ask(house, "check", {"kind": "foil", "text": FOIL})["leaves"] > 0
    wrong = ask(house, "check", {"kind": "zone", "text": "posn < 1"})
    assert not wrong["ok"]
    assert "Did you mean `pos`?" in wrong["text"]


@pytest.mark.parametrize(
    "junk", [None, True, 3, -1, 1e308, "x", "", [], {}, [[]], {"pos": [None, None]}, ["a"], {"a": {}}]
)
def test_no_argument_breaks_a_question(house, junk):
    """Whatever JSON can hold in the place of an argument: an answer, or a sentence about what is wrong."""
    desk = Desk(house)
    for question in set(QUESTIONS) - {"hello", "summary", "report", "regrow", "diff", "failures", "require", "rules"}:
        names = ("state", "start", "reach", "x", "foil", "model", "leaf", "episode", "text", "level")
        known = [name for name in inspect.signature(QUESTIONS[question]).parameters if name in names]
        usual = {"state": STATE, "start": HERE, "reach": "end", "end": "end", "x": "pos", "y": "speed", "foil": FOIL}
        usual |= {
            "leaf": 3,
            "episode": 2,
            "steps": 4,
            "low": 0,
            "high": 1,
            "job": "j1",
            "kind": "zone",
            "text": "pos < 1",
        }
        wanted = {name: one for name, one in usual.items() if name in inspect.signature(QUESTIONS[question]).parameters}
        for name in known:
            content, error = desk.reply(question, {**wanted, name: junk})
            assert error is None or error.kind != "fault", (question, name, junk, error.text)
            json.loads(content)


def test_answers_are_kept_only_where_they_stay_the_same(house):
    desk = Desk(house)
    first, _ = desk.reply("map", {"x": "pos", "y": "speed"})
    again, _ = desk.reply("map", {"y": "speed", "x": "pos"})
    assert again is first
    assert desk.reply("hello", {})[0] is not desk.reply("hello", {})[0]
