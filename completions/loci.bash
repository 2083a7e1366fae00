# SPDX-License-Identifier: GPL-2.0-or-later
# Bash completion for loci. Commands, options, machines and formats are asked of the program itself,
# so that they cannot be out of step with it. Works with and without the bash-completion package.

# The options that `loci COMMAND -h` shows.
_loci_options() {
	"$1" "$2" -h 2>/dev/null | grep -oE '(^|[[:space:],[|])--?[[:alpha:]][[:alnum:]-]*' |
		tr -d ' \t,[|' | sort -u
}

_loci_caches() {
	echo host
	"$1" cache --machines 2>/dev/null | sed -n '1d; s/^  \([a-z][[:alnum:].-]*\) .*/\1/p'
}

_loci_formats() {
	"$1" analyse --formats 2>/dev/null | grep -xE '[[:alpha:]][[:alnum:].-]*'
}

_loci_commands() {
	"$1" help 2>/dev/null | sed -n 's/^  \([a-z+]*\) .*/\1/p'
	echo help
}

_loci() {
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]-}
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local words= files=

	# "--name=value" arrives as three words.
	if [ "$word" = = ]; then
		word=
	elif [ "$before" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi

	if [ "$COMP_CWORD" = 1 ]; then
		words=$(_loci_commands "$program")
	elif [[ $word == -* ]]; then
		words=$(_loci_options "$program" "$command")
	else
		case $before in
		--cache) words=$(_loci_caches "$program") ;;
		--model) words='stack assoc coherence' ;;
		--policy) words='lru random' ;;
		--from) words='stack time' ;;
		--conversion) words='statstack shen' ;;
		-f | --format)
			case $command in
			export) words='json csv' ;;
			*) words=$(_loci_formats "$program") ;;
			esac
			;;
		--by)
			words='function context region block callee type'
			[ "$command" = ops ] || words='site line function loop file module object field context pair thread process region phase index sharing'
			;;
		--coverage) words='75 80 90 95' ;;
		--sort) words='misses refs writebacks distance' ;;
		--level) words='L1 L2 L3' ;;
		--pairs) words='far all none' ;;
		--watch) words='rw w' ;;
		--replace) words='reservoir rdx oldest coin never' ;;
		--weights) words='inverse unscaled proportional kaplan-meier plain' ;;
		--order) words='refs time arrival' ;;
		--loci-clang) words=$(compgen -c clang- | grep -xE 'clang-[0-9]+') ;;
		--loci-gcc) words=$(compgen -c g | grep -xE '(gcc|g\+\+|gfortran)-[0-9]+') ;;
		--loci-flang) words=$(compgen -c flang- | grep -xE 'flang-(new-)?[0-9]+') ;;
		--loci-only | --loci-skip) ;;
		--loci-mpi) words=$(compgen -c mpi | grep -E '^mpi(cc|cxx|f)') ;;
		--collector) words='any cc gcc' ;;
		-m) words='exact count sample watch' ;;
		-c | --error | --seed | --skew | --overhead) ;;
		--watch-by) words='registers pages' ;;
		--toggle) words='USR1 USR2' ;;
		--fail-if | --sweep | --threads | --share | --miss | --max-memory | -b | --block | --only | --skip | --delay | --duration | -n | --rows | --min | --object) ;;
		-o | --output | --trace) files=any ;;
		*)
			case $command in
			analyse | analyze | cc | c++ | flang | mpicc | mpicxx | mpifort | gcc | g++ | gfortran) files=any ;;
			record) files=programs ;;
			doctor) ;;
			*) files=loci ;;
			esac
			;;
		esac
	fi

	COMPREPLY=()
	case $files in
	any) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	programs) mapfile -t COMPREPLY < <(compgen -c -f -- "$word" | sort -u) ;;
	loci) mapfile -t COMPREPLY < <(compgen -f -X '!*.loci' -- "$word"; compgen -d -- "$word") ;;
	*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word") ;;
	esac
	[ -z "$files" ] || compopt -o filenames 2>/dev/null
}

complete -F _loci loci
