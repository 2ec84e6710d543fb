#!/bin/sh
# enter_root.sh ROOT SHARED... -- DIRECTORY COMMAND...: runs COMMAND in ROOT, in DIRECTORY.
# To be called in a mount namespace of its own, so that the mounts end with the command. Each SHARED
# directory is seen inside under the path it has outside.
set -e
root=$1
shift
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do
  mkdir -p "$root$1"
  mount --rbind "$1" "$root$1"
  shift
done
directory=$2
shift 2
exec chroot "$root" sh -c 'cd "$1"; shift; exec "$@"' sh "$directory" "$@"
