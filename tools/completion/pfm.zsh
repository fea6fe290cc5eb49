#compdef pfm
# SPDX-License-Identifier: MIT
# Completion of pfm for zsh: commands, options, processors, events with their unit masks, files.

# Adds the words that the lines of $1 are, below the prefix that stays on the line.
_pfm_add() {
	local prefix=$2
	local -a found=("${(@f)1}")
	found=("${(@)found:#}")
	(( $#found )) && compadd -S '' -p "$prefix" -- "${(@)found}"
}

_pfm_events() {
	local typed=${PREFIX##*[,\{]} before=${PREFIX%${PREFIX##*[,\{]}}
	_pfm_add "$("$words[1]" list ${pmu:+--pmu=$pmu} --complete "$typed" 2>/dev/null)" "$before"
}

_pfm_pmus() {
	_pfm_add "$("$words[1]" list --complete '' 2>/dev/null | sed -n 's/::$//p')" ''
}

_pfm() {
	local command='' pmu='' previous=$words[CURRENT-1] i
	for ((i = 2; i < CURRENT; i++)); do
		[[ -z $command && $words[i] != -* ]] && command=$words[i]
		[[ $words[i] == --pmu || ( $words[i] == -p && $command == (metric|plan) ) ]] && pmu=$words[i+1]
		[[ $words[i] == --pmu=* ]] && pmu=${words[i]#--pmu=}
		if [[ $words[i] == -- && $command == (stat|record|top|mem|device) ]]; then
			shift $i words
			((CURRENT -= i))
			_normal
			return
		fi
	done
	if [[ -z $command || $command == help ]]; then
		_pfm_add "$("$words[1]" --help 2>/dev/null | sed -n '/^Commands/,/^$/s/^  *\([a-z]*\) .*/\1/p')" ''
		return
	fi
	[[ $command == (metric|plan) && $previous == -p ]] && previous=--pmu
	[[ $command == export && $previous == (-f|--format) ]] && previous=--export-format
	[[ $previous == --call-graph ]] && previous=--$command-chains
	case $previous in
	--pmu) _pfm_pmus; return ;;
	--device-model | --model | -m) compadd ev4 ev5 pca56 ev6 ev67; return ;;
	--record-chains) compadd fp dwarf lbr; return ;;
	--branch-filter) compadd any any_call any_ret ind_call ind_jmp call cond abort_tx in_tx no_tx u k hv save_type; return ;;
	--lang) compadd c rust zig asm python tablegen go; return ;;
	--color) compadd auto always never; return ;;
	--export-format) compadd pprof script firefox speedscope folded chrome callgrind otlp csv json brstack; return ;;
	--format) compadd openmetrics prometheus; return ;;
	--listen) compadd -S '' 127.0.0.1:9747 unix:; return ;;
	-o | --output | --html | --textfile) _files; return ;;
	-p | --pid) _pids; return ;;
	-e | --event | -M | --metrics | --metric) _pfm_events; return ;;
	esac
	if [[ $PREFIX == -* ]]; then
		compadd -- ${(f)"$("$words[1]" $command --complete-options 2>/dev/null)"}
		return
	fi
	case $command in
	list | show | encode | dispatch | header | metric | plan) _pfm_events ;;
	import | session | report | export | archive | diff | annotate) _files ;;
	mem) compadd record report; _files ;;
	stat | record | top | device) _command_names -e ;;
	esac
}

_pfm "$@"
