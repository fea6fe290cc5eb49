#!/bin/sh
# SPDX-License-Identifier: MIT
# lay.sh RECORDING FOLDER: the files of a recorded machine, below FOLDER.
tab=$(printf '\t')
grep -v '^#' "$1" | while IFS=$tab read -r path text; do
	case $path in
	/*) at=$2$path ;;
	*) at=$2/sys/bus/event_source/devices/$path ;;
	esac
	mkdir -p "${at%/*}"
	printf '%s\n' "$text" >"$at"
done
