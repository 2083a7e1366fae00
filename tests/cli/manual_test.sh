# SPDX-License-Identifier: GPL-2.0-or-later
# Every command has a manual page; its page and its -h name the same options.
. "$SRC/tests/cli/expect.sh"

expect 0 "$LOCI" help
sed -n 's/^  \([a-z+]*\) .*/\1/p' out >commands
[ -s commands ] || fail "loci help lists no commands"

# Options as `.It Fl x` or `.It Fl -long` of the page's list.
documented() {
	sed -n '/^\.Sh OPTIONS/,/^\.Sh EX/s/^\.It //p' "$1" | grep -oE '\bFl -?[[:alpha:]][[:alnum:]-]*' |
		sed 's/^Fl /-/' | sort -u
}
explained() {
	grep -oE '(^|[[:space:],[|])--?[[:alpha:]][[:alnum:]-]*' "$1" | tr -d ' \t,[|' |
		grep -vxE -- '-h|--help' | sort -u
}

while read -r command; do
	page=$SRC/doc/man/loci-$command.1
	[ -f "$page" ] || { fail "no manual page for loci $command"; continue; }
	other=$(sed -n 's/^\.so man1\///p' "$page")
	[ -z "$other" ] || page=$SRC/doc/man/$other
	grep -q "^\.Nm.*\bloci-$command\( \|$\)" "$page" || fail "$page is not about loci $command"
	expect 0 "$LOCI" "$command" -h
	has out "loci $command"
	documented "$page" >page.options
	explained out >help.options
	diff page.options help.options >differences ||
		fail "loci-$command.1 (<) and loci $command -h (>) differ: $(grep '^[<>]' differences | tr '\n' ' ')"
	has "$SRC/doc/man/loci.1" ".Xr loci-$command 1"
	case $command in
	cc | c++ | flang | mpicc | mpicxx | mpifort | gcc | g++ | gfortran) # what is not loci's is the compiler's
		expect 0 "$LOCI" "$command" --loci-help
		expect 2 "$LOCI" "$command" --loci-such-option
		;;
	*)
		expect 0 "$LOCI" "$command" --help
		expect 2 "$LOCI" "$command" --no-such-option
		;;
	esac
	has err "loci $command"
done <commands

# And no page without a command.
for page in "$SRC"/doc/man/loci-*.1; do
	command=${page##*/loci-}
	grep -qx "${command%.1}" commands || fail "${page##*/}: there is no such command"
done
finish
