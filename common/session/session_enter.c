/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: a call of a program begins. */
#include "session/session.h"

int unc_session_enter(struct unc_session *s)
{
	if (unc_platform_here(s->platform)) {
		unc_error_clear(&s->error);
		return 0;
	}
	return unc_fail(&s->error, UNC_ERR_STATE,
			"the session belongs to the process that this one was forked from; open a "
			"platform of its own");
}

const char *unc_session_unprotected(struct unc_session *s)
{
	if (unc_session_enter(s) < 0)
		return s->error.text;
	pthread_mutex_lock(&s->platform->program);
	unc_fail(&s->error, UNC_OK, "%s",
		 s->units.programs ? unc_ledger_reason(s->platform->ledger) : "");
	pthread_mutex_unlock(&s->platform->program);
	return s->error.text;
}
