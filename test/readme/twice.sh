#!/bin/sh
# README.md's program prints what README.md's reader expects, on a new database and on the one that is there then.
set -e
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
for run in first second; do
  printed=$("$1")
  [ "$printed" = London ] || { echo "the $run run printed '$printed'"; exit 1; }
done
