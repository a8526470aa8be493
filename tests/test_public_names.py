"""What can be reached from ``import tripletree``, and what that costs."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import tripletree


def test_public_names():
    assert sorted(tripletree.__all__) == [
        "Action",
        "DiskLog",
        "Feature",
        "Log",
        "LogError",
        "MissingDependencyError",
        "ModelFileError",
        "NotFittedError",
        "ParameterError",
        "Schema",
        "TripleTree",
        "TripleTreeError",
        "TripleTreeWarning",
        "__version__",
        "check",
        "compare_weights",
        "diff",
        "drift",
        "explain_agent",
        "failures",
        "load",
        "memory",
        "open_log",
        "outcome",
        "progress_bar",
        "read_description",
        "read_log",
        "record",
        "require",
        "rhythm",
        "watch",
        "world",
    ]
    for name in tripletree.__all__:
        assert hasattr(tripletree, name)


def python(code: str) -> str:
    """What a new process prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_submodules_need_no_import_of_their_own():
    names = "t.plot.leaf_map, t.answers.Factual, t.demos.road.record, t.demos.lander"
    assert python(f"import tripletree as t; print(len([{names}]))") == "4"
    assert {"answers", "demos", "plot", "TripleTree"} <= set(dir(tripletree))


def test_what_is_not_there_is_said():
    with pytest.raises(AttributeError, match="module 'tripletree' has no attribute 'plots'"):
        _ = tripletree.plots


def test_the_front_door_does_not_load_the_report():
    code = "import sys, tripletree.api; print([name for name in sys.modules if name.startswith('tripletree.report')])"
    assert python(code) == "[]"


def test_questions_are_imported_when_they_are_asked():
    """All of them together take longer than most commands."""
    rooms = ("tripletree.answers.", "tripletree.questions.", "tripletree.policy.", "tripletree.scale.")
    code = f"import sys; from tripletree import TripleTree; print([n for n in sys.modules if n.startswith({rooms!r})])"
    assert python(code) == "[]"


def test_answers_can_be_named_in_type_hints():
    from tripletree import answers
    from tripletree.answers.answer import Answer

    assert answers.__all__ == sorted(answers.__all__)
    assert [getattr(answers, name).__name__ for name in answers.__all__] == answers.__all__
    assert {*answers.__all__} <= {*dir(answers)}
    with pytest.raises(AttributeError, match="has no attribute 'Storey'"):
        _ = answers.Storey
    kinds = {cls.__name__ for cls in Answer.__subclasses__() if cls.__module__.startswith("tripletree.")}
    hidden = kinds - {*answers.__all__}
    assert hidden <= {"Jump"}, f"tripletree.answers lacks {hidden}"


def test_the_version_is_the_packages():
    assert tripletree.__version__ == version("tripletree")


def test_import_leaves_heavy_libraries_alone():
    heavy = (
        "numpy",
        "scipy",
        "matplotlib",
        "pandas",
        "pyarrow",
        "sklearn",
        "click",
        "rich",
        "safetensors",
        "gymnasium",
        "torch",
        "stable_baselines3",
        "onnxruntime",
    )
    assert python(f"import sys, tripletree; print([name for name in {heavy!r} if name in sys.modules])") == "[]"
    libraries = heavy[heavy.index("gymnasium") :]
    code = f"import sys, tripletree.log; print([name for name in {libraries!r} if name in sys.modules])"
    assert python(code) == "[]"
