#!/bin/sh
# Fails when the candidate does something else, or does worse; passes, with a note, when the logs cannot tell.
# Usage: gate.sh baseline.npz candidate.npz
tripletree diff "$1" "$2" --fail-on policy,outcome:worse
code=$?
case $code in
    0) echo "No change found." ;;
    4) echo "Too few episodes to tell: record more." ;;
    *) exit $code ;;
esac
