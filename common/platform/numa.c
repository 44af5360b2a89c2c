/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NUMA nodes: their sockets, and their units. With sub-NUMA clusters a socket has several nodes and one L3; no
 * register shows them. The nodes are counted, because offline CPUs would distort a division of the CPUs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "platform/platform.h"

static const char folder[] = "/sys/devices/system/node";

struct unc_nodes {
	unsigned clusters;    /* of each socket; 1: the socket is one node */
	struct unc_error why; /* why the clusters are unknown */
	size_t n;
	struct unc_numa {
		struct unc_node pub;
		int cpu; /* the first of its CPUs */
		char reason[UNC_REASON_MAX];
	} of[];
};

static void refuse_node(struct unc_numa *node, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void refuse_node(struct unc_numa *node, const char *format, ...)
{
	UNC_FORMAT(node->reason, format);
	node->pub.cluster = -1;
}

/* ---- files of the kernel */

static void find_socket(const struct unc_topology *top, struct unc_numa *node, const char *list)
{
	bool cpus[UNC_MAX_CPUS] = {false};

	if (!unc_cpu_list(list, cpus)) {
		refuse_node(node, "its CPUs are '%.40s', which is no list", list);
		return;
	}
	for (int cpu = 0; cpu < UNC_MAX_CPUS; cpu++) {
		int socket = cpus[cpu] ? unc_topology_socket(top, cpu) : -1;

		if (socket >= 0 && node->cpu < 0) {
			node->pub.socket = socket;
			node->cpu = cpu;
		} else if (socket >= 0 && socket != node->pub.socket) {
			refuse_node(node,
				    "it has CPUs of socket %d and of socket %d: the firmware or "
				    "the kernel reports them as one node",
				    node->pub.socket, socket);
			node->pub.socket = -1;
			return;
		}
	}
	if (node->cpu < 0)
		refuse_node(node, "none of its CPUs is online");
}

static void read_node(const struct unc_platform *p, struct unc_numa *node, int number)
{
	char list[4096];

	node->pub = (struct unc_node){number, -1, 0, node->reason};
	node->cpu = -1;
	if (unc_fs_text(p->machine->fs, list, sizeof(list), "%s/node%d/cpulist", folder, number) <
	    0)
		refuse_node(node, "%s/node%d/cpulist cannot be read: %s", folder, number,
			    unc_fs_reason(errno));
	else if (!list[0])
		refuse_node(node,
			    "it has no CPUs, like memory of CXL or on the package, so its socket "
			    "is not known");
	else
		find_socket(&p->topology, node, list);
}

/* ---- clusters */

/* Number of nodes of a socket that have CPUs and a number below `before`. */
static unsigned count_nodes(const struct unc_nodes *nodes, int socket, int before)
{
	unsigned n = 0;

	for (size_t i = 0; i < nodes->n; i++)
		n += nodes->of[i].pub.socket == socket && nodes->of[i].pub.number < before;
	return n;
}

static int count_clusters(const struct unc_platform *p, struct unc_nodes *nodes)
{
	int first = -1;

	for (size_t i = 0; i < nodes->n; i++)
		if (nodes->of[i].cpu >= 0 && nodes->of[i].pub.socket < 0)
			return unc_fail(&nodes->why, UNC_ERR_UNAVAILABLE, "node %d: %s",
					nodes->of[i].pub.number, nodes->of[i].reason);
	for (int i = 0; i < p->topology.n_sockets; i++) {
		unsigned n = count_nodes(nodes, i, UNC_MAX_CPUS);

		if (p->topology.socket[i].cpus == 0)
			continue;
		first = first < 0 ? i : first;
		if (first == i)
			nodes->clusters = n;
		if (!n || n != nodes->clusters)
			return unc_fail(
				&nodes->why, UNC_ERR_UNAVAILABLE,
				"socket %d has %u nodes with CPUs, socket %d has %u: CPUs that "
				"are offline may hide one",
				first, nodes->clusters, i, n);
	}
	return 0;
}

/* Checks that two nodes of a socket share its L3; else it has no sub-NUMA clusters. */
static int check_cache(const struct unc_platform *p, struct unc_nodes *nodes,
		       const struct unc_numa *a, const struct unc_numa *b)
{
	bool cpus[UNC_MAX_CPUS] = {false};
	char list[4096];

	if (unc_fs_text(p->machine->fs, list, sizeof(list),
			"/sys/devices/system/cpu/cpu%d/cache/index3/shared_cpu_list", a->cpu) < 0 ||
	    !unc_cpu_list(list, cpus))
		return unc_fail(
			&nodes->why, UNC_ERR_UNAVAILABLE,
			"socket %d has several nodes, and the kernel does not tell which CPUs "
			"share its L3",
			a->pub.socket);
	if (!cpus[b->cpu])
		return unc_fail(
			&nodes->why, UNC_ERR_UNAVAILABLE,
			"socket %d has several nodes, and more than one L3 (Cluster on Die, or "
			"several dies): no map of its units is known",
			a->pub.socket);
	return 0;
}

static void find_clusters(const struct unc_platform *p, struct unc_nodes *nodes)
{
	int rc = count_clusters(p, nodes);

	for (struct unc_numa *a = nodes->of; rc == 0 && a < nodes->of + nodes->n; a++)
		for (struct unc_numa *b = nodes->of; rc == 0 && b < a; b++)
			if (a->pub.socket >= 0 && a->pub.socket == b->pub.socket)
				rc = check_cache(p, nodes, a, b);
	for (struct unc_numa *node = nodes->of; node < nodes->of + nodes->n; node++) {
		if (node->pub.socket >= 0 && rc == 0)
			node->pub.cluster =
				(int)count_nodes(nodes, node->pub.socket, node->pub.number);
		else if (node->pub.socket >= 0)
			refuse_node(node, "%s", nodes->why.text);
	}
}

/* ---- reading them, once */

/* The numbers of the nodes that are online. */
static int list_nodes(const struct unc_platform *p, bool online[UNC_MAX_CPUS],
		      struct unc_error *why)
{
	char text[4096];

	if (!p->access)
		return unc_fail(
			why, UNC_ERR_UNAVAILABLE,
			"NUMA nodes are not known: the platform was opened for listing only");
	if (unc_fs_text(p->machine->fs, text, sizeof(text), "%s/online", folder) < 0)
		return unc_fail(why, UNC_ERR_UNAVAILABLE,
				"the kernel reports no NUMA nodes: %s/online: %s", folder,
				unc_fs_reason(errno));
	if (!unc_cpu_list(text, online))
		return unc_fail(why, UNC_ERR_UNAVAILABLE,
				"%s/online: '%.40s' is not a list like 0-3,8", folder, text);
	return 0;
}

static struct unc_nodes *read_nodes(const struct unc_platform *p)
{
	bool online[UNC_MAX_CPUS] = {false};
	struct unc_error why = {0};
	int rc = list_nodes(p, online, &why);
	size_t n = 0;

	for (int i = 0; i < UNC_MAX_CPUS; i++)
		n += online[i];
	struct unc_nodes *nodes = calloc(1, sizeof(*nodes) + n * sizeof(nodes->of[0]));

	if (!nodes)
		return NULL;
	nodes->why = why;
	for (int i = 0; i < UNC_MAX_CPUS && rc == 0; i++)
		if (online[i])
			read_node(p, &nodes->of[nodes->n++], i);
	if (rc == 0)
		find_clusters(p, nodes);
	return nodes;
}

static const struct unc_nodes *nodes_known(const struct unc_platform *constant)
{
	struct unc_platform *p = (struct unc_platform *)(uintptr_t)constant;

	if (!unc_platform_here(p)) /* a thread that is not there may hold its lock */
		return p->nodes;
	pthread_mutex_lock(&p->lock);
	if (!p->nodes)
		p->nodes = read_nodes(p);
	pthread_mutex_unlock(&p->lock);
	return p->nodes;
}

const struct unc_node *unc_node_get(const struct unc_platform *p, size_t index)
{
	const struct unc_nodes *nodes = nodes_known(p);

	return nodes && index < nodes->n ? &nodes->of[index].pub : NULL;
}

/* ---- answers */

static int fail_range(const struct unc_nodes *nodes, int node, struct unc_error *err)
{
	int first = nodes->of[0].pub.number, last = nodes->of[nodes->n - 1].pub.number;
	bool gaps = (size_t)(last - first) + 1 != nodes->n;
	char text[256], number[12];
	struct unc_buf list = UNC_BUF(text);

	for (size_t i = 0; i < nodes->n && gaps; i++) {
		snprintf(number, sizeof(number), "%d", nodes->of[i].pub.number);
		unc_put_word(&list, number);
	}
	if (!gaps)
		unc_put(&list, "%d to %d", first, last);
	return unc_fail(err, UNC_ERR_RANGE, "this machine has nodes %s, not %d", text, node);
}

int unc_numa_socket(const struct unc_platform *p, int node, struct unc_error *err)
{
	const struct unc_nodes *nodes = nodes_known(p);

	if (!nodes)
		return unc_no_memory(err);
	for (size_t i = 0; i < nodes->n; i++) {
		const struct unc_numa *row = &nodes->of[i];

		if (row->pub.number == node && !row->reason[0])
			return row->pub.socket;
		if (row->pub.number == node)
			return unc_fail(err, UNC_ERR_UNAVAILABLE, "node %d: %s", node, row->reason);
	}
	if (!nodes->n)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", nodes->why.text);
	return fail_range(nodes, node, err);
}

bool unc_numa_clustered(const struct unc_platform *p)
{
	const struct unc_nodes *nodes = nodes_known(p);

	return nodes && nodes->clusters > 1;
}

/* The site's map of the units, else the table's; NULL: neither has one for this number of clusters. */
static const struct unc_tbl_nodes *map_of(const struct unc_platform *p,
					  const struct unc_instance *u, unsigned clusters)
{
	const struct unc_tbl_nodes *map = NULL;

	for (size_t i = 0; i < p->site.n_units; i++) {
		const struct unc_site_units *line = &p->site.units[i];

		if (unc_same(line->unit, unc_type_name(p->table, u->type)) &&
		    (line->socket == u->socket || (line->socket < 0 && !map)) &&
		    line->map.clusters == clusters)
			map = &line->map;
	}
	return map ? map : unc_type_nodes(p->table, &p->table->type[u->type], clusters);
}

/* The cluster of a unit whose map is in order; -1: the units do not divide evenly. */
static int cluster_in_order(const struct unc_platform *p, const struct unc_instance *u,
			    unsigned clusters)
{
	unsigned n = 0;

	for (size_t i = 0; i < p->instances.n; i++)
		n += p->instances.unit[i].type == u->type &&
		     p->instances.unit[i].socket == u->socket;
	return n % clusters || u->index >= n ? -1 : (int)(u->index / (n / clusters));
}

static int cluster_of(const struct unc_platform *p, const struct unc_instance *u, unsigned clusters,
		      struct unc_error *why)
{
	const struct unc_tbl_nodes *map = map_of(p, u, clusters);
	const char *name = unc_type_name(p->table, u->type);
	int cluster = !map                        ? -1
		      : !map->clusters            ? cluster_in_order(p, u, clusters)
		      : u->index < UNC_MAX_PLACES ? map->cluster[u->index] - 1
						  : -1;

	if (cluster >= 0)
		return cluster;
	if (map)
		return unc_fail(
			why, UNC_ERR_UNAVAILABLE,
			"the map of %s units to the %u sub-NUMA clusters of a socket has no "
			"%s%u",
			name, clusters, name, u->index);
	if (p->table->type[u->type].memory != UNC_MEMORY_NONE)
		return unc_fail(
			why, UNC_ERR_UNAVAILABLE,
			"which memory controllers belong to which of the %u sub-NUMA clusters "
			"of this CPU is not public; `uncore verify` measures it and prints the "
			"lines for site.conf",
			clusters);
	return unc_fail(why, UNC_ERR_UNAVAILABLE,
			"%s units are known by socket only; sub-NUMA clusters are on", name);
}

int unc_numa_owner(const struct unc_platform *p, size_t instance, struct unc_error *why)
{
	const struct unc_nodes *nodes = nodes_known(p);
	const struct unc_instance *u = &p->instances.unit[instance];
	int cluster = 0;

	if (!nodes)
		return unc_no_memory(why);
	if (nodes->why.code) {
		*why = nodes->why;
		return why->code;
	}
	if (nodes->clusters > 1 && (cluster = cluster_of(p, u, nodes->clusters, why)) < 0)
		return cluster;
	for (size_t i = 0; i < nodes->n; i++)
		if (nodes->of[i].pub.socket == u->socket && nodes->of[i].pub.cluster == cluster)
			return nodes->of[i].pub.number;
	return unc_fail(why, UNC_ERR_UNAVAILABLE,
			"no CPU of socket %d is online: which nodes are its is not known",
			u->socket);
}
