# SPDX-License-Identifier: MIT
# Completion of pfm for fish: commands, options, processors, events with their unit masks, files.

# The command on the line, if there is one.
function __pfm_command
	for word in (commandline -opc)[2..-1]
		if not string match -q -- '-*' $word
			echo $word
			return
		end
	end
	return 1
end

function __pfm_is
	contains -- (__pfm_command; or echo none) $argv
end

function __pfm_commands
	pfm --help 2>/dev/null | sed -n '/^Commands/,/^$/s/^  *\([a-z]*\) \{1,\}\(.*\)/\1\t\2/p'
end

# The processor that --pmu names on the line.
function __pfm_pmu
	set -l words (commandline -opc)
	for i in (seq (count $words))
		if test "$words[$i]" = --pmu; and set -q words[(math $i + 1)]
			echo --pmu=$words[(math $i + 1)]
		else if string match -q -- '--pmu=*' $words[$i]
			echo $words[$i]
		end
	end
end

# Events that continue the last name of the list under the cursor; the names before it stay.
function __pfm_events
	set -l typed (commandline -ct | string replace -r -- '^--[a-z-]+=' '')
	set -l last (string replace -r -- '.*[,{]' '' "$typed")
	set -l before (string sub -l (math (string length -- "$typed") - (string length -- "$last")) -- "$typed")
	pfm list (__pfm_pmu) --complete "$last" 2>/dev/null | while read -l word
		echo $before$word
	end
end

function __pfm_pmus
	pfm list --complete '' 2>/dev/null | sed -n 's/::$//p'
end

complete -c pfm -e
complete -c pfm -f
complete -c pfm -n 'not __pfm_command; or __pfm_is help' -a '(__pfm_commands)'
complete -c pfm -n 'not __pfm_command' -l version -d 'show the version'
for command in (pfm --help 2>/dev/null | sed -n '/^Commands/,/^$/s/^  *\([a-z]*\) .*/\1/p')
	for option in (pfm $command --complete-options 2>/dev/null | string replace -- -- '')
		switch $option
			case pmu
				complete -c pfm -n "__pfm_is $command" -l pmu -x -a '(__pfm_pmus)'
			case event metrics metric
				# "list --metrics" takes no value.
				if test $command = list
					complete -c pfm -n "__pfm_is $command" -l $option
				else
					complete -c pfm -n "__pfm_is $command" -l $option -x -a '(__pfm_events)'
				end
			case branch-filter
				complete -c pfm -n "__pfm_is $command" -l branch-filter -x -a 'any any_call any_ret ind_call ind_jmp call cond abort_tx in_tx no_tx u k hv save_type'
			case call-graph
				if test $command = record
					complete -c pfm -n '__pfm_is record' -l call-graph -x -a 'fp dwarf lbr'
				else
					complete -c pfm -n "__pfm_is $command" -l call-graph -a 'caller callee'
				end
			case color
				complete -c pfm -n "__pfm_is $command" -l color -x -a 'auto always never'
			case model device-model
				complete -c pfm -n "__pfm_is $command" -l $option -x -a 'ev4 ev5 pca56 ev6 ev67'
			case format
				if test $command = export
					complete -c pfm -n '__pfm_is export' -l format -x -a 'pprof script firefox speedscope folded chrome callgrind otlp csv json brstack'
				else
					complete -c pfm -n "__pfm_is $command" -l format -x -a 'openmetrics prometheus'
				end
			case lang
				complete -c pfm -n "__pfm_is $command" -l lang -x -a 'c rust zig asm python tablegen go'
			case listen
				complete -c pfm -n "__pfm_is $command" -l listen -x -a '127.0.0.1:9747 unix:'
			case output html textfile
				complete -c pfm -n "__pfm_is $command" -l $option -r -F
			case pid
				complete -c pfm -n "__pfm_is $command" -l pid -x -a '(__fish_complete_pids)'
			case '*'
				complete -c pfm -n "__pfm_is $command" -l $option
		end
	end
end
complete -c pfm -n '__pfm_is stat record serve top' -s e -x -a '(__pfm_events)'
complete -c pfm -n '__pfm_is stat serve' -s M -x -a '(__pfm_events)'
complete -c pfm -n '__pfm_is stat record export' -s o -r -F
complete -c pfm -n '__pfm_is export' -s f -x -a 'pprof script firefox speedscope folded chrome callgrind otlp csv json brstack'
complete -c pfm -n '__pfm_is list show encode dispatch header metric plan' -a '(__pfm_events)'
complete -c pfm -n '__pfm_is mem' -a 'record report'
complete -c pfm -n '__pfm_is import session report export archive diff annotate mem' -F
complete -c pfm -n '__pfm_is stat record top mem device' -a '(__fish_complete_subcommand)'
