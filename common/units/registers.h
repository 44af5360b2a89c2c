/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside units/: settings of registers for slots, and whether what is read is ours, and counts.
 */
#ifndef UNC_REGISTERS_H
#define UNC_REGISTERS_H

#include "units/inside.h"
#include "units/occupancy.h"

/* ---- settings.c */

int unc_settings_look(struct unc_units *, const struct unc_instance *, const uint32_t *slots,
		      size_t n, struct unc_plan *found, struct unc_error *err);
int unc_settings_claim(struct unc_units *, struct unc_claim *, const struct unc_assignment *,
		       const struct unc_occupancy *, const struct unc_plan *found,
		       struct unc_error *err);
/* The sentence of an assignment that has failed. */
int unc_settings_busy(struct unc_units *, const struct unc_instance *,
		      const struct unc_assignment *, const struct unc_occupancy *,
		      const struct unc_plan *found, struct unc_error *err);
/* ---- witness.c: the code of a clock; NULL: it has none. It stays until the next is asked for. */
const struct unc_code *unc_clock_code(struct unc_units *, const struct unc_tbl_event *);
enum { UNC_PROOF_NS = 20000 }; /* a clock of 100 MHz makes 2000 steps */
/* What moves counts. By what the last look has shown, without an access: how many units have a
 * counter that has counted much more or less in its time than before, or (UNC_PROVE) none that has
 * moved. Such a unit is a suspect: somebody may have frozen it, or taken its counters. */
size_t unc_units_suspect(struct unc_units *, uint64_t ns, enum unc_check_kind);
/* Reads units from read[first] on again, of one owner, of which one of these is known (bits of
 * proof), all where counting begins or ends, else those that are suspects: how many stand still,
 * which are the suspects then. */
size_t unc_units_stand(struct unc_units *, const struct unc_unit_methods *by, size_t first,
		       unsigned known, enum unc_check_kind);
/* What begins to count, and was not set, is read, so that it can be seen to move. */
void unc_units_stand_first(struct unc_units *, const struct unc_unit_methods *by);
/* After programming: whether claim[first] and those behind it, of `self`, count; sockets that an
 * ended program has left frozen go on. Whether those that did count still do. */
int unc_units_prove(struct unc_units *, const struct unc_unit_methods *self, size_t first,
		    struct unc_error *err);
/* Before programming: whether types count of which that leaves no counter for a clock. */
int unc_units_prove_full(struct unc_units *, size_t first, struct unc_error *err);
int unc_units_prove_again(struct unc_units *, const struct unc_unit_methods *self, size_t first,
			  enum unc_check_kind, struct unc_error *err);
/* Whether something that counts on a unit now stops its clock; whether a type has one, without which no
 * 0 can be proven; whether units are of one type on one socket. */
bool unc_units_stops_clock(const struct unc_units *, const struct unc_instance *);
bool unc_type_has_clock(const struct unc_table *, unsigned type);
bool unc_units_are_kin(const struct unc_instance *, const struct unc_instance *);
/* Nothing shows whether a unit counts: UNC_UNSHOWN, or UNC_DARK until, after a look, one of its type on
 * its socket has moved. */
void unc_units_set_unshown(struct unc_units *, const struct unc_instance *, enum unc_proof);
void unc_units_light_up(struct unc_units *);
/* ---- clocks.c: what a slot counts from the last look on is compared. */
void unc_clock_begin(struct unc_units *, struct unc_slot *);
/* ---- verify.c: before programming: gets ready to read the controls back. */
int unc_units_verify_prepare(struct unc_units *, struct unc_error *err);
/* Right before it: of a unit on which somebody has programmed a control since it was looked at nothing is
 * written. */
int unc_units_verify_found(struct unc_units *, struct unc_plan *writes, size_t first,
			   struct unc_error *err);
/* Right after it: the controls are read back; a unit of which one does not hold what was written is
 * left out. */
int unc_units_verify_begin(struct unc_units *, size_t first, struct unc_error *err);
/* Later: marks slots that are not ours any more; what is not ours is not restored. All of
 * claim[first] and those behind it; those of suspects, or of one unit; or whose turn it is. */
void unc_units_verify(struct unc_units *, size_t first);
void unc_units_verify_suspects(struct unc_units *);
void unc_units_verify_unit(struct unc_units *, uint32_t instance);
void unc_units_verify_due(struct unc_units *, uint64_t ns);

#endif
