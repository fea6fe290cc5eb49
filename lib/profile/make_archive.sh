#!/bin/sh
# SPDX-License-Identifier: MIT
# make_archive.sh FROM TO OBJCOPY AR CC...: the objects of the archive FROM as one, whose hidden
# names are local, in the archive TO.
set -eu
from=$1 to=$2 objcopy=$3 ar=$4
shift 4
rm -f "$to"
"$@" -r -nostdlib -Wl,--whole-archive "$from" -o "$to.o"
"$objcopy" --localize-hidden "$to.o"
"$ar" rcs "$to" "$to.o"
rm "$to.o"
