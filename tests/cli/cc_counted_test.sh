# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose references follow from their source, built by loci cc in every way and recorded:
# exactly as many as the formulas of tests/counted/closed_forms.py say. make check-long: every way with
# every clang, and -O1 and unused functions thrown away.
# Not under sanitizers: slow, and nothing new.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"
counted=$SRC/tests/counted

# compare LEVEL NAME PROGRAM WHAT
compare() {
	local n=37
	[ "$2" != fibonacci ] || n=15
	expect 0 "$3" "$2" $n
	mv out alone
	expect 0 loci record -q --collector cc --pairs none -o p.loci "$3" "$2" $n
	cmp -s out alone || fail "$4, $2: prints something else when recorded"
	python3 "$counted/closed_forms.py" p.loci "$1" "$2" $n >differs || fail "$4: $(cat differs)"
}

# all LEVEL WHAT PROGRAM CLASSES: every function that has formulas for the level
all() {
	local name program
	for name in $(python3 "$counted/closed_forms.py" list "$1"); do
		case $name in
		calls | sum | throwing) program=$4 ;;
		*) program=$3 ;;
		esac
		compare "$1" "$name" "$program" "$2"
	done
}

echo 'int start(int, char **); int main(int argc, char **argv) { return start(argc, argv); }' >main.c
echo 'int start(int, char **); int main(int argc, char **argv) { return start(argc, argv); }' >main.cpp
cat >loads.c <<'C'
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int (*start)(int, char **);
	void *library;

	for (int i = 0; i < 1000; i++)
		free(malloc(i));
	library = dlopen("./loaded.so", RTLD_NOW);
	start = (int (*)(int, char **))dlsym(library, "start");
	return start(argc, argv);
}
C
# way MAJOR FLAG..
way() {
	local major=$1 level=opt
	shift
	[ "$*" != -O0 ] || level=O0
	expect 0 cc $major -g "$@" -o forms "$counted/closed_forms.c"
	expect 0 cxx $major -g "$@" -o classes "$counted/closed_classes.cpp"
	all $level "clang $major $*" ./forms ./classes
}
# shared MAJOR: in a shared library, and the program that calls it
shared() {
	expect 0 cc $1 -g -O2 -fPIC -shared -Dmain=start -o libforms.so "$counted/closed_forms.c"
	expect 0 cxx $1 -g -O2 -fPIC -shared -Dmain=start -o libclasses.so "$counted/closed_classes.cpp"
	expect 0 cc $1 -g -O2 -o forms main.c -L. -lforms -Wl,-rpath,"$PWD"
	expect 0 cxx $1 -g -O2 -o classes main.cpp -L. -lclasses -Wl,-rpath,"$PWD"
	all opt "clang $1, shared" ./forms ./classes
	# Loaded at run time, after allocations that the recorder may not have read yet.
	expect 0 cc $1 -g -O2 -o loads loads.c
	cp libforms.so loaded.so
	compare opt triad ./loads "clang $1, loaded"
	compare opt list ./loads "clang $1, loaded"
}
in_turn "$clangs" way -O0
in_turn "$clangs" way -O2
in_turn "$clangs" way -O3 -march=native
in_turn "$clangs" way -O2 -static
in_turn "$clangs" way -O2 -flto -fuse-ld=lld
in_turn "$clangs" shared
if [ -n "${LONG-}" ]; then
	in_turn "$clangs" way -O1
	in_turn "$clangs" way -O2 -ffunction-sections -Wl,--gc-sections
fi
finish
