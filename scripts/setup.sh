#!/bin/sh
# Set up .venv: find or install Python, its headers and a C++ compiler, then build and install the package into it.
set -eu
cd "$(dirname "$0")/.."

die() {
    printf 'tripletree: %s\n' "$1" >&2
    exit 1
}

# provide WHAT PACKAGE...: install the packages when that is allowed here, otherwise say in one line what to type.
provide() {
    what=$1
    shift
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "$what is missing: apt-get install $*"
        export DEBIAN_FRONTEND=noninteractive
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"; } </dev/null >/dev/null ||
            die "could not install $what; type: apt-get install $*"
    elif command -v apt-get >/dev/null; then
        die "$what is missing; type: sudo apt-get install $*"
    else
        die "$what is missing; install it with your system's package manager (on Debian it is: $*)"
    fi
}

find_python() {
    for python in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            return 0
        fi
    done
    return 1
}

has_compiler() {
    for compiler in ${CXX:-} c++ g++ clang++; do
        if command -v "$compiler" >/dev/null; then return 0; fi
    done
    return 1
}

if [ ! -x .venv/bin/python ] || [ ! -x .venv/bin/pip ]; then
    find_python || provide "Python 3.11 or newer" python3 python3-venv python3-dev
    find_python || die "Python 3.11 or newer is needed and this system offers none; type: make PYTHON=/path/to/python3.11"
    "$python" -c 'import ensurepip, venv' 2>/dev/null || provide "Python's venv module" python3-venv
    "$python" -m venv .venv
fi
has_headers() { .venv/bin/python -c 'import os, sysconfig as s; os.stat(s.get_path("include") + "/Python.h")' 2>/dev/null; }
has_headers || provide "Python.h" python3-dev
has_compiler || provide "a C++ compiler" g++

# --group needs pip 25.1. Build without isolation, so that a second build reuses the first one's objects.
pip() { .venv/bin/python -m pip --disable-pip-version-check --quiet "$@"; }
echo "Setting up .venv (a minute or two the first time) ..."
pip install 'pip>=25.1'
pip install --group build
pip install --no-build-isolation --editable .
