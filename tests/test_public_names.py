from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import tripletree


def test_public_names():
    assert sorted(tripletree.__all__) == [
        "Action",
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
        "load",
        "progress_bar",
        "read_description",
        "read_log",
        "record",
    ]
    for name in tripletree.__all__:
        assert hasattr(tripletree, name)


def test_answers_can_be_named_in_type_hints():
    from tripletree import answers
    from tripletree.answers.answer import Answer

    assert answers.__all__ == sorted(answers.__all__)
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
    )
    code = f"import sys, tripletree; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
