#!/bin/sh
# Provide TypeScript, which checks the types that comments in the browser's modules name; nothing is compiled with it.
set -eu
cd "$(dirname "$0")/.."
version=5.9.3 # every minor version finds something else

have() { command -v node >/dev/null && command -v npm >/dev/null; }
if ! have && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Node is missing: apt-get install nodejs npm"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends nodejs npm; } </dev/null >/dev/null || true
fi
if ! have; then
    echo "tripletree: Node is missing, and the types of the browser's modules need it; type: sudo apt-get install nodejs npm" >&2
    exit 1
fi
echo "Installing TypeScript $version into .venv ..."
npm install --prefix .venv/types --no-save --no-audit --no-fund --loglevel=error "typescript@$version"
