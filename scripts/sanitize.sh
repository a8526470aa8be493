#!/bin/sh
# Build the kernel with the sanitizers beside the normal build, and run the tests of what it does on it.
set -eu
cd "$(dirname "$0")/.."
build=$PWD/build/sanitize
python=$PWD/.venv/bin/python
site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
PATH=$PWD/.venv/bin:$PATH

cmake -S . -B "$build/cmake" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTRIPLETREE_SANITIZE=ON \
    -DPython_EXECUTABLE="$python" >"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
cmake --build "$build/cmake"
rm -rf "$build/site"
cmake --install "$build/cmake" --prefix "$build/site" >/dev/null
cp -R src/tripletree "$build/site/"

# The sanitizer's runtime must come before everything else in the process; libstdc++ with it, so that it sees exceptions.
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/cmake/CMakeCache.txt")
runtime() { "$compiler" -print-file-name="$1"; }

# -S keeps the editable install in .venv from taking the place of the build under test.
PYTHONPATH=$build/site:$site
export PYTHONPATH PYTHONMALLOC=malloc PYTHONDONTWRITEBYTECODE=1
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export LD_PRELOAD="$(runtime libasan.so) $(runtime libstdc++.so)"
"$python" -S -c 'import tripletree._kernel as k, sys; sys.exit(0 if "sanitize" in k.__file__ else "not the sanitized build: " + k.__file__)'
[ $# -gt 0 ] || set -- tests/tree tests/leaves/test_linear.py tests/leaves/test_sums.py tests/questions/test_attribute.py tests/log/test_csv_reader.py \
    tests/model/test_track.py tests/asking/test_settled.py
# --capture=sys leaves the sanitizers' own reports on standard error.
# One test limits the address space, of which the sanitizers take all.
exec "$python" -S -m pytest -q -p no:cacheprovider --capture=sys --hypothesis-profile=sanitize \
    --deselect tests/tree/test_growth_threads.py::test_fewer_threads_than_asked_for_give_the_same_tree "$@"
