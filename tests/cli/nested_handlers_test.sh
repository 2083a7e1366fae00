# SPDX-License-Identifier: GPL-2.0-or-later
# A handler that comes at any instruction of another, and of the runtime on the way into it and out
# of it, and leaves both by a jump: signals that the runtime took are blocked as before.
# Not under sanitizers: the program watched has none.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

major=${clangs##* }
expect 0 "clang-$major" -o step_into "$SRC/tests/runtime/step_into.c"
expect 0 cc "$major" -O1 -o nested "$SRC/tests/runtime/nested_handlers.c"
export LD_BIND_NOW=1 # whatever is looked up is looked up again after each jump
./step_into 50 ./nested returns >alone
[ $? != 77 ] || { echo "processes may not be traced here"; exit 77; }
[ "$(cat alone)" = "0 wrong" ] || fail "alone: $(cat alone)"

# Of few references there may be no sample: the recorder says so, and may fail for that.
for way in returns jumps fault; do
	loci record -q --collector cc -m watch -c 200 --burst 20 -o p.loci ./step_into 11 ./nested $way >out 2>err
	[ "$(cat out)" = "0 wrong" ] || fail "$way: $(cat out err)"
done
finish
