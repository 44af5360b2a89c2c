#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Machines that are wrong on purpose: 'uncore verify' must say so, by the check that names what is wrong.
#
# A row has the CPU, what is wrong, how that comes about, and the check that must name it. Library and model read the same tables,
# so what the hardware does otherwise than these say stands in workload.tbl: where the machine counts for a name what belongs to another,
# the table has a wrong code, umask or filter. A formula is wrong in metrics.tbl, which the model does not read:
# the rates that were solved from the right one stay. With rates solved again from the wrong formula nothing would disagree, so these rows show
# that a disagreement is noticed; that the formula is right show the rows of tests/metrics, by source. What no table can say of one
# unit, options of the simulated machine do (common/sim/sim_options.c): twice=, narrow=, exchanged=, sticky=, idle=, split=.

: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$PWD}"
title=verify_wrong
export COLUMNS=1000 # sentences stand on one line
. "$SRCDIR/tests/integration/result.inc"
unset UNCORE_SIM UNCORE_TABLES

# Checks, by the beginning of their names; @: a socket. +: another of the same kind, with ALL=1 only.
rows()
{
	cat <<'END'
skylake-sp     a channel counts twice|=twice=imc0|units of imc.CAS_COUNT:RD on socket @
+emerald-rapids a channel of one socket counts twice|=twice=imc2@1|units of imc.CAS_COUNT:RD on socket 1
icelake-sp     a channel counts twice: the sum|=twice=imc5|memory_read_bytes of socket 0 while socket 0 reads memory of 0
granite-rapids a slice of the LLC counts twice|=twice=cha3|units of cha.LLC_LOOKUP.* on socket @
cooperlake-sp  all links count twice|=twice=upi|link_tx_bytes of socket 1 while socket 0 reads memory of 1
skylake-sp     a ghost channel, which nothing drives|=idle=imc3|units of imc.CLOCKTICKS on socket @
sandybridge-ep a ghost channel: the sum|=idle=imc2|memory_read_bytes of socket 0 while socket 0 reads memory of 0
ivybridge-ep   a ghost controller shows another one's counts|workload.tbl:s/^\(unit imc *present=0-1,4\)-5/\1-7/|memory_read_bytes of socket 0 while socket 0 reads memory of 0
skylake-sp     umasks of reads and writes are swapped|workload.tbl:s/CAS_COUNT:RD/CAS_COUNT:X/;s/CAS_COUNT:WR/CAS_COUNT:RD/;s/CAS_COUNT:X/CAS_COUNT:WR/|memory_read_bytes of socket 0 while socket 0 reads memory of 0
sapphire-rapids umasks of reads and writes of HBM are swapped|workload.tbl:/^rate mchbm/{s/CAS_COUNT:RD /CAS_COUNT:X /;s/CAS_COUNT:WR /CAS_COUNT:RD /;s/CAS_COUNT:X /CAS_COUNT:WR /}|memory_write_bytes of socket 0 while socket 0 writes memory of 0
emerald-rapids the umask of writes counts reads, too|workload.tbl:s/^rate imc CAS_COUNT:WR .*/rate imc CAS_COUNT:WR "(cas_rd + writes) \/ 8"/|memory_write_bytes of socket 0 while socket 0 reads memory of 0
emerald-rapids the umask of all leaves out reads|workload.tbl:s/^rate imc CAS_COUNT:ALL .*/rate imc CAS_COUNT:ALL "writes \/ 8"/|imc.CAS_COUNT:RD and imc.CAS_COUNT:WR, .*imc.CAS_COUNT:ALL
skylake-sp     32 bytes for 64: reads|metrics.tbl:/^metric memory_read_bytes/s/64/32/|memory_read_bytes of socket 0 while socket 0 reads memory of 0
+emerald-rapids 32 bytes for 64: writes|metrics.tbl:/^metric memory_write_bytes/s/64/32/|memory_write_bytes of socket 1 while socket 1 writes memory of 1
haswell-ep     64 bytes for 32: pcie|metrics.tbl:/^metric pcie_write_bytes/s/64/128/|pcie_write_bytes of socket 0 while a device writes
icelake-sp     the links' data in flits of 32 bytes|metrics.tbl:/^metric link_tx_bytes/s/64/32/|link_tx_bytes of socket 1 while socket 0 reads memory of 1
+ivybridge-ep   the links' data in flits of 4 bytes|metrics.tbl:/^metric link_rx_bytes/s/\* 8/* 4/|link_rx_bytes of socket 0 while socket 0 reads memory of 1
skylake-sp     a filter is ignored|workload.tbl:/^rate cha LLC_LOOKUP:DATA_READ:state=/d|cha.LLC_LOOKUP:DATA_READ:state=1 and .*, .*cha.LLC_LOOKUP:DATA_READ
+broadwell-ep   a filter is ignored|workload.tbl:/^rate cbo LLC_LOOKUP:DATA_READ:state=/d|cbo.LLC_LOOKUP:DATA_READ:state=.* and .*, .*cbo.LLC_LOOKUP:DATA_READ
cascadelake-sp the filter's bits are those of hits|metrics.tbl:/^metric llc_misses/s/state=LLC_I/state=1022/|llc_misses of socket 0 while socket 0 reads memory of 0
skylake-sp     counters of channels have two bits less|=narrow=imc|imc.CLOCKTICKS on counters 0 and 3
emerald-rapids counters of slices have two bits less|=narrow=cha|cha.CLOCKTICKS on counters 0 and 3
+ivybridge-ep   counters of links have two bits less|=narrow=qpi|qpi.CLOCKTICKS on counters 0 and 3
skylake-sp     the code of reads is off by one|workload.tbl:/^rate imc CAS_COUNT:RD/d|memory_read_bytes of socket 0 while socket 0 reads memory of 0
+haswell-ep     the code of lookups is off by one|workload.tbl:/^rate cbo LLC_LOOKUP/d|llc_lookups of socket 0 while socket 0 reads memory of 0
icelake-sp     the code of a clock is off by one|workload.tbl:/^rate imc CLOCKTICKS/d|imc.CLOCKTICKS on socket 0, by wall time
sandybridge-ep the code of PCIe writes is off by one|workload.tbl:/^rate cbo TOR_INSERTS:OPCODE:opc=0x19C/d|pcie_write_bytes of socket 0 while a device writes
nehalem-ep     the code of one channel's reads is off by one|workload.tbl:/^rate unc IMC_NORMAL_READS:CH1/d;/^rate unc IMC_NORMAL_READS:ANY/s/"mem_reads"/"mem_reads * 2 \/ 3"/|memory_read_bytes of socket 0 while socket 0 reads memory of 0
granite-rapids one of two schedulers is not counted: reads|metrics.tbl:/^metric memory_read_bytes/s/ + imc.CAS_COUNT_SCH1:RD//|memory_read_bytes of socket 0 while socket 0 reads memory of 0
+granite-rapids one of two schedulers is not counted: writes|metrics.tbl:/^metric memory_write_bytes/s/imc.CAS_COUNT_SCH0:WR + //|memory_write_bytes of socket 0 while socket 0 writes memory of 0
skylake-sp     sockets are exchanged: memory|=exchanged=imc|memory_read_bytes of socket 1 while socket 0 reads memory of 0
+emerald-rapids sockets are exchanged: memory, writes|=exchanged=imc|memory_write_bytes of socket 1 while socket 0 writes memory of 0
icelake-sp     sockets are exchanged: links|=exchanged=upi|link_rx_bytes of socket 0 while socket 0 reads memory of 1
granite-rapids sockets are exchanged: the LLC|=exchanged=cha|llc_lookups of socket 0 while socket 0 reads memory of 0
broadwell-ep   sockets are exchanged: devices|=exchanged=cbo|pcie_write_bytes of socket 0 while a device writes
skylake-sp     what is sent and what is received are exchanged|metrics.tbl:s/TxL_FLITS:ALL_DATA/X/;s/RxL_FLITS:ALL_DATA/TxL_FLITS:ALL_DATA/;s/upi.X/upi.RxL_FLITS:ALL_DATA/|link_tx_bytes of socket 1 while socket 0 reads memory of 1
skylake-sp     registers are not restored|=sticky=imc|registers that a stop has not restored
icelake-sp     registers are not restored: MMIO|=sticky=imc|registers that a stop has not restored
skylake-sp     memory of the own and of the other socket are exchanged|workload.tbl:s/IA_MISS_DRD:loc=0/IA_MISS_DRD:X/;s/IA_MISS_DRD:rem=0/IA_MISS_DRD:loc=0/;s/IA_MISS_DRD:X/IA_MISS_DRD:rem=0/|remote_access_ratio of socket 0 while socket 0 reads memory of 0
+haswell-ep     all memory is that of the own socket|workload.tbl:s/^\(rate cbo TOR_INSERTS:MISS_REMOTE_OPCODE:opc=0x182\) .*/\1 "0"/|remote_access_ratio of socket 0 while socket 0 reads memory of 1
icelake-sp     an occupancy is counted in other clocks|workload.tbl:/^rate cha TOR_OCCUPANCY:IA_MISS_DRD/s/"\(.*\)"/"100 * (\1)"/|memory_read_latency_ns of socket 0 while socket 0 reads memory of 0
emerald-rapids pages are opened more often than they are used|workload.tbl:s/^rate imc ACT_COUNT:ALL .*/rate imc ACT_COUNT:ALL "(1.3 * reads + writes) \/ 8"/|dram_page_hit_ratio of socket 0 while socket 0 reads memory of 0
skylake-sp     a clock that always runs is another|workload.tbl:s/^rate iio CLOCKTICKS_FREERUN .*/rate iio CLOCKTICKS_FREERUN "0.8 * clock"/|iio.CLOCKTICKS_FREERUN against iio.CLOCKTICKS on socket @
emerald-rapids one channel sees one node of its socket, the others both|=split=imc0|units of imc.CAS_COUNT:RD on socket @ that see traffic of its node 0 alone
skylake-sp     reads of devices are taken for their writes|metrics.tbl:/^metric pcie_write_bytes/s/MEM_WRITE/MEM_READ/|pcie_write_bytes of socket 0 while a device writes
END
}

# The folder of a CPU's tables.
folder()
{
	sed -n "s/^cpu $1 .* folder=\([a-z-]*\).*/\1/p" "$SRCDIR/eventtables/cpus.tbl" | grep . || echo "$1"
}

# A copy of the tables as they are is right: what is found below, the change has done. It is read with the CPU that it
# is about alone.
cp -r "$SRCDIR/eventtables" "$tmp/good" && chmod -R u+w "$tmp/good"
verify() # CPU OPTIONS
{
	grep -e "^cpu $1 " -e "^cpu $(folder "$1") " "$SRCDIR/eventtables/cpus.tbl" >"$tmp/good/cpus.tbl"
	UNCORE_TABLES=$tmp/good UNCORE_SIM=$1$2 timeout 60 "$UNCORE" verify >"$tmp/out" 2>"$tmp/err"
	status=$?
}
for cpu in skylake-sp emerald-rapids haswell-ep; do
	verify $cpu ""
	[ $status -eq 0 ] && ! grep -q '^wrong' "$tmp/out"
	result "$cpu as it is"
done

# Of the copy only what differs is changed, and put back.
if [ "${ALL-}" = 1 ]; then rows | sed 's/^+//'; else rows | grep -v '^+'; fi >"$tmp/rows"
while IFS='|' read -r head how check; do
	cpu=${head%% *} wrong=$(echo "${head#* }" | sed 's/^ *//') option='' file=
	case $how in
	=*) option=,${how#=} ;;
	*) file=$(folder "$cpu")/${how%%:*} ;;
	esac
	changed=yes
	if [ -n "$file" ]; then
		sed "${how#*:}" "$SRCDIR/eventtables/$file" >"$tmp/good/$file"
		! cmp -s "$SRCDIR/eventtables/$file" "$tmp/good/$file" || changed=no
	fi
	verify "$cpu" "$option"
	[ -z "$file" ] || cp "$SRCDIR/eventtables/$file" "$tmp/good/$file"
	check=$(echo "$check" | sed 's/@/[01]/g')
	[ $changed = yes ] && [ $status -eq 1 ] && grep -q "^wrong .* $check" "$tmp/out"
	result "$cpu: $wrong"
done <"$tmp/rows"

finish
