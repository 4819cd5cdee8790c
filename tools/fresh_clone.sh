#!/usr/bin/env bash
# Try the README's two commands where nothing of ours is set up: a fresh clone, a new environment, an empty home.
#
#   tools/fresh_clone.sh            as you are; if you are root, then again as a normal user (nobody)
#   tools/fresh_clone.sh "tests/lessons -k lesson1"       other tests than the short default ("" for all of them)
#
# Each user goes through: make test, make lab (the page and the first lesson answer), and both once more without a network.
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
tests=${1-tests/authoring/test_build.py tests/authoring/test_rules.py}
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT

say() { printf '\n== %s\n' "$*"; }

# run USER NETWORK COMMAND…: run with an empty environment but for what a login gives; NETWORK is on or off
run() {
  local user=$1 network=$2
  shift 2
  local command=(env -i HOME="$work/$user home" PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 TERM=dumb "$@")
  [ "$user" = "$(id -un)" ] || command=(setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "${command[@]}")
  if [ "$network" = off ]; then
    # A network namespace of its own, with nothing in it but loopback.
    local namespace=(unshare --net)
    [ "$(id -u)" -eq 0 ] || namespace=(unshare --map-root-user --net)
    command=("${namespace[@]}" sh -c 'ip link set lo up; exec "$@"' sh "${command[@]}")
  fi
  "${command[@]}"
}

# lab USER NETWORK FOLDER: start make lab, ask it for its page and the first lesson, stop it
lab() {
  run "$1" "$2" sh -c '
    port=$(python3 -c "import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); print(s.getsockname()[1])")
    make -C "$1" lab LAB_ARGS="--no-browser --port $port --IdentityProvider.token=fresh" >"$1/lab.log" 2>&1 &
    python3 - "$port" <<"PY"
import json, sys, time, urllib.request
base, end = f"http://127.0.0.1:{sys.argv[1]}", time.monotonic() + 600
def get(path):
    request = urllib.request.Request(base + path, headers={"Authorization": "token fresh"})
    return urllib.request.urlopen(request, timeout=20).read()
while True:
    try:
        get("/api/status")
        break
    except OSError:
        if time.monotonic() > end:
            raise
        time.sleep(1)
assert b"JupyterLab" in get("/lab")
cells = json.loads(get("/api/contents/lessons/lesson1/draft_and_verify.ipynb"))["content"]["cells"]
print("make lab serves lesson 1:", len(cells), "cells")
urllib.request.urlopen(urllib.request.Request(base + "/api/shutdown", b"", {"Authorization": "token fresh"}), timeout=20)
PY
    status=$?
    [ $status -eq 0 ] || cat "$1/lab.log"
    wait
    exit $status
  ' sh "$3"
}

try_as() {
  local user=$1 folder="$work/$1 clone"
  say "$user: clone"
  git clone --quiet "$repository" "$folder"
  mkdir -p "$work/$user home"
  [ "$user" = "$(id -un)" ] || chown -R "$user" "$folder" "$work/$user home"
  cd /
  say "$user: make test"
  run "$user" on make -C "$folder" test PYTEST_ARGS="$tests"
  say "$user: make lab"
  lab "$user" on "$folder"
  say "$user: make test, offline"
  run "$user" off make -C "$folder" test PYTEST_ARGS="$tests"
  say "$user: make lab, offline"
  lab "$user" off "$folder"
  say "$user: the clone is as clean as it was"
  local changes
  changes=$(git -c safe.directory='*' -C "$folder" status --short)
  [ -z "$changes" ] || { echo "$changes"; return 1; }
}

try_as "$(id -un)"
if [ "$(id -u)" -eq 0 ]; then try_as nobody; fi
say "all went well"
