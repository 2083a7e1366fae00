# SPDX-License-Identifier: GPL-2.0-or-later
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"

make_profile mm.loci cyclic:2:20000 wcyclic:200:50 +cyclic:3000:6
make_profile object.loci unit=object caches= random:1000:20000
make_profile cold.loci cyclic:5000:1
make_profile a-program-with-a-long-name.loci cyclic:10:100
expect 0 loci summary mm.loci object.loci cold.loci a-program-with-a-long-name.loci
same summary
narrow
expect 0 loci summary --json mm.loci object.loci cold.loci
valid summary
expect 0 loci summary --cache L1=64K,L9=1M mm.loci cold.loci
same summary-cache
# the first level is the first cache, not the TLB before it
make_profile pages.loci block=64,4096 cyclic:300:20
expect 0 loci summary --json --cache DTLB=16e/4@4K,L1=4K/4 pages.loci
has out '"name": "L1"'
lacks out '"name": "DTLB"'
expect 1 loci summary mm.loci nothere.loci cold.loci
has out mm.loci
has out cold.loci
has err nothere.loci
expect 2 loci summary
has err 'which profiles?'
expect 2 loci summary --cache nonsense mm.loci
expect 0 loci summary -h
finish
