# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2207 # compgen's words have no blanks in them
# Completion of pfm for bash: commands, options, processors, events with their unit masks, files.

# Words that pfm gives for $1, put where the part of the word behind the last thing bash breaks words at begins.
_pfm_events() {
	local typed=$1 before=${2-} IFS=$'\n' colon i
	COMPREPLY=($("${COMP_WORDS[0]}" list ${_pfm_pmu:+"--pmu=$_pfm_pmu"} --complete "$typed" 2>/dev/null))
	COMPREPLY=("${COMPREPLY[@]/#/$before}")
	# Bash breaks words at colons (COMP_WORDBREAKS): what is left of the last one is on the line already.
	if [[ $COMP_WORDBREAKS == *:* && $before$typed == *:* ]]; then
		colon=$before$typed
		colon=${colon%"${colon##*:}"}
		for i in "${!COMPREPLY[@]}"; do
			COMPREPLY[i]=${COMPREPLY[i]:${#colon}}
		done
	fi
	if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *: ]]; then
		compopt -o nospace 2>/dev/null
	fi
}

# The word under the cursor as the shell will see it: pieces that bash broke at ':' and '=' joined again.
_pfm_word() {
	local line=${COMP_LINE:0:COMP_POINT}
	_pfm_current=${line##*[[:space:]]}
	_pfm_current=${_pfm_current#[\'\"]}
}

_pfm_pmus() {
	local IFS=$'\n'
	COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" list --complete '' 2>/dev/null | sed -n 's/::$//p')" -- "$1"))
}

_pfm() {
	local _pfm_branches='any any_call any_ret ind_call ind_jmp call cond abort_tx in_tx no_tx u k hv save_type'
	local command='' commands='' word _pfm_pmu='' _pfm_current i previous=${COMP_WORDS[COMP_CWORD-1]}

	COMPREPLY=()
	_pfm_word
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		[[ -z $command && $word != -* ]] && command=$word
		if [[ $word == --pmu || ($word == -p && ($command == metric || $command == plan)) ]]; then
			_pfm_pmu=${COMP_WORDS[i+1]}
			# Bash breaks words at '=', too.
			[[ $_pfm_pmu == = ]] && _pfm_pmu=${COMP_WORDS[i+2]}
		fi
		# Behind "--" stands another program's command line.
		if [[ $word == -- && ($command == stat || $command == record || $command == mem || $command == alpha) ]]; then
			COMPREPLY=($(compgen -c -f -- "$_pfm_current"))
			return
		fi
	done
	[[ $_pfm_pmu == "$_pfm_current" ]] && _pfm_pmu=''
	if [[ -z $command || $command == help ]]; then
		commands=$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -n '/^Commands/,/^$/s/^  *\([a-z]*\) .*/\1/p')
		[[ -z $command ]] && commands+=' help --help --version --color'
		COMPREPLY=($(compgen -W "$commands" -- "$_pfm_current"))
		return
	fi
	if [[ $_pfm_current == --*=* && $COMP_WORDBREAKS == *=* ]]; then
		previous=${_pfm_current%%=*}
		_pfm_current=${_pfm_current#*=}
	fi
	case $command$previous in
	metric-p | plan-p) previous=--pmu ;;
	export-f | export--format) previous=--export-format ;;
	record--call-graph) previous=--record-chains ;;
	report--call-graph) previous=--report-tree ;;
	esac
	case $previous in
	--pmu) _pfm_pmus "$_pfm_current"; return ;;
	--device-model | --model | -m) COMPREPLY=($(compgen -W 'ev4 ev5 pca56 ev6 ev67' -- "$_pfm_current")); return ;;
	--record-chains) COMPREPLY=($(compgen -W 'fp dwarf lbr' -- "$_pfm_current")); return ;;
	--report-tree) COMPREPLY=($(compgen -W 'caller callee' -- "$_pfm_current")); return ;;
	--branch-filter) COMPREPLY=($(compgen -W "$_pfm_branches" -- "$_pfm_current")); return ;;
	--lang) COMPREPLY=($(compgen -W 'c rust zig asm python tablegen go' -- "$_pfm_current")); return ;;
	--color) COMPREPLY=($(compgen -W 'auto always never' -- "$_pfm_current")); return ;;
	--export-format) COMPREPLY=($(compgen -W 'pprof script firefox speedscope folded chrome callgrind otlp csv json brstack' -- "$_pfm_current")); return ;;
	--format) COMPREPLY=($(compgen -W 'openmetrics prometheus' -- "$_pfm_current")); return ;;
	--listen) COMPREPLY=($(compgen -W '127.0.0.1:9747 unix:' -- "$_pfm_current")); return ;;
	-o | --output | --html | --textfile) COMPREPLY=($(compgen -f -- "$_pfm_current")); return ;;
	-p | --pid) COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$_pfm_current")); return ;;
	esac
	if [[ $_pfm_current == -* ]]; then
		COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" "$command" --complete-options 2>/dev/null)" -- "$_pfm_current"))
		return
	fi
	case $command in
	list | show | encode | dispatch | header | metric | plan) _pfm_events "$_pfm_current" ;;
	stat | record | serve | top)
		# The last event of a list; the events before it stay as they are.
		word=${_pfm_current##*[,\{]}
		[[ $previous == -e || $previous == --event || $previous == -M || $previous == --metrics || $previous == --metric ]] && _pfm_events "$word" "${_pfm_current%"$word"}"
		;;
	report)
		word=${_pfm_current##*,}
		if [[ $previous == --metrics ]]; then
			_pfm_events "$word" "${_pfm_current%"$word"}"
		else
			COMPREPLY=($(compgen -f -- "$_pfm_current"))
		fi
		;;
	mem) COMPREPLY=($(compgen -W 'record report' -f -- "$_pfm_current")) ;;
	import | annotate | diff | export | archive) COMPREPLY=($(compgen -f -- "$_pfm_current")) ;;
	alpha) COMPREPLY=($(compgen -W 'session device' -f -- "$_pfm_current")) ;;
	esac
}

complete -o default -F _pfm pfm
