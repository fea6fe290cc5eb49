#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Faults in the sources: a quarter of those of mutants.txt, which the tests named there notice, and some drawn from all of lib/ and tools/,
# against the quicker tests. By hand all, and against more: tests/mutate.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tests='split questions find sizes resolve explain suggest print decode assign machine_host kernel kernel_event cpus session session_trust
	session_refusals session_user_reads session_failures perf_page count_metrics perf_where device_model device_run pfm_device pfm_samples
	montecito_decode libpfm3_pfmlib interface extremes starve sequences sample_decode sampling sampling_script data_write data_read evaluate
	plan doctor_faults core coreduo modern alpha montecito montecito_events alpha_sets montecito_range montecito_random units digests
	units_libpfm4 digests_libpfm4 cli answers drawn'
# shellcheck disable=SC2086  # a list of words on purpose
exec "$here/../mutate.sh" --listed --every 4 --sample 8 --seed 1 --near --tests "$(echo $tests | tr ' ' ',')"
