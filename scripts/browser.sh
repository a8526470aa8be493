#!/bin/sh
# Provide the browser that the tests of the report need: found, or installed where that is allowed, or its absence said in one line.
set -eu
for browser in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$browser" >/dev/null; then exit 0; fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Chromium is missing: apt-get install chromium"
    export DEBIAN_FRONTEND=noninteractive
    if { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } </dev/null >/dev/null; then exit 0; fi
fi
echo "tripletree: Chromium is missing, so tests of the report are skipped; type: sudo apt-get install chromium" >&2
if [ "${CI:-}" = true ]; then exit 1; fi
