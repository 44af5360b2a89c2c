/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: a call of a program begins. */
#include "journal/journal.h"
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

int unc_session_enter_idle(struct unc_session *s)
{
	int rc = unc_session_enter(s);

	if (rc == 0 && s->state == UNC_RUNNING)
		rc = unc_fail(&s->error, UNC_ERR_STATE, "the session is running; stop it first");
	return rc;
}

int unc_session_enter_running(struct unc_session *s)
{
	int rc = unc_session_enter(s);

	if (rc == 0 && s->state != UNC_RUNNING)
		rc = unc_fail(&s->error, UNC_ERR_STATE, "the session is not running");
	return rc;
}

int unc_session_enter_measured(struct unc_session *s)
{
	int rc = unc_session_enter(s);

	if (rc == 0 && s->state == UNC_UNMEASURED)
		rc = unc_fail(&s->error, UNC_ERR_STATE,
			      "the session was not started, or its start failed");
	return rc;
}

struct unc_session_item *unc_session_find_item(struct unc_session *s, int id)
{
	if (id >= 0 && (size_t)id < s->n_items)
		return &s->item[id];
	unc_fail(&s->error, UNC_ERR_NOT_FOUND, "the session has no item %d", id);
	return NULL;
}

const char *unc_session_unprotected(struct unc_session *s)
{
	if (unc_session_enter(s) < 0)
		return s->error.text;
	pthread_mutex_lock(&s->platform->program);
	unc_fail(&s->error, UNC_OK, "%s",
		 s->units.programs ? unc_journal_reason(s->platform->journal) : "");
	pthread_mutex_unlock(&s->platform->program);
	return s->error.text;
}
