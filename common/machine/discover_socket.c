/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The socket of each PCI function.
 *
 * The UBox of a bus gives the socket of that bus (and of as many buses above as the table says): by its
 * registers or, if the table has none and the kernel does not know, by the order of UBoxes. A bus without a
 * UBox has the socket that the kernel gives for its functions, else that of the next bus with a UBox, higher
 * or lower by the table, as in Linux.
 * A bus whose UBox cannot be read still has one: if the kernel does not know its socket either, the socket
 * is unknown, and so is that of the buses that follow it. The same holds for a hidden UBox: if the bus of
 * the next UBox has the same functions, the bus belongs to another socket.
 */
#include <stdio.h>
#include <stdlib.h>

#include "machine/discover_walk.h"

enum {
	NODE_BITS = 3, /* bits of a node id in the UBox registers (Intel 817509-001, 1.10.2) */
	MAX_NODES = 1 << NODE_BITS
};

static bool any_offline(const struct unc_topology *topo)
{
	for (int i = 0; i < topo->n_sockets; i++)
		if (topo->socket[i].cpu < 0)
			return true;
	return false;
}

/* Returns the socket of the function's local CPUs, if they are of one socket; else -1. The NUMA node is not
 * used: a socket may have several. Without a node the local CPUs are all online CPUs. */
static int socket_by_locality(const struct unc_walk *walk, const struct unc_pci_function *f)
{
	int first, last;

	f = unc_walk_told(walk, f);
	if (f->local_cpu < 0 || (f->numa_node < 0 && any_offline(walk->topo)))
		return -1;
	first = unc_topology_socket(walk->topo, f->local_cpu);
	last = unc_topology_socket(walk->topo, f->local_last);
	return last < 0 || last == first ? first : -1;
}

/* Returns the socket by locality of any function on a bus. */
static int socket_of_bus(const struct unc_walk *walk, uint16_t domain, uint8_t bus)
{
	int socket = -1;

	for (const struct unc_pci_function *f = walk->function; f < walk->end && socket < 0; f++)
		if (f->domain == domain && f->bus == bus)
			socket = socket_by_locality(walk, f);
	return socket;
}

/*
 * Returns the package of a bus from its UBox: `map` holds 3-bit groups; the position of the group that
 * equals the node id of this bus is the package.
 */
static int package_by_ubox(const struct unc_walk *walk, const struct unc_pci_function *f,
			   struct unc_error *why)
{
	const struct unc_tbl_topology *t = &walk->table->topology;
	uint32_t node, map;

	if (unc_bus_config(walk->bus, f, t->nodeid_offset, &node, why) < 0 ||
	    unc_bus_config(walk->bus, f, t->map_offset, &map, why) < 0)
		return -1;
	if (node != UINT32_MAX && map != UINT32_MAX)
		for (int i = 0; i < MAX_NODES; i++)
			if ((map >> (i * NODE_BITS) & (MAX_NODES - 1)) == (node & (MAX_NODES - 1)))
				return i;
	unc_fail(why, UNC_ERR_UNAVAILABLE, "pci %s: node 0x%x is not in the map 0x%x of its UBox",
		 unc_function_name(f).text, node, map);
	return -1;
}

static bool is_ubox(const struct unc_walk *walk, const struct unc_pci_function *f)
{
	return f->device && f->device == walk->table->topology.ubox_id;
}

/* Whether there are more nodes than 3 bits can distinguish: the registers are then ambiguous. */
static bool too_many_nodes(const struct unc_walk *walk)
{
	for (const struct unc_pci_function *f = walk->function; f < walk->end; f++)
		if (is_ubox(walk, f) && unc_walk_told(walk, f)->numa_node >= MAX_NODES)
			return true;
	return walk->topo->n_sockets > MAX_NODES;
}

/* Whether the registers of UBoxes give their packages. */
static bool has_map(const struct unc_walk *walk)
{
	return walk->table->topology.ubox_id && walk->table->topology.map_offset;
}

/* Reads the package of a UBox; a package without online CPUs becomes a socket, too. */
static int read_package(struct unc_walk *walk, const struct unc_pci_function *f, struct unc_ubox *u,
			struct unc_error *err)
{
	struct unc_error why = {0};

	u->package = -1;
	if (!has_map(walk))
		unc_fail(&why, UNC_ERR_UNAVAILABLE, "not every socket shows its UBox");
	else if (too_many_nodes(walk))
		unc_fail(&why, UNC_ERR_UNAVAILABLE, "more nodes than its UBox can tell apart");
	else
		u->package = package_by_ubox(walk, f, &why);
	u->denied = why.code == UNC_ERR_PERMISSION;
	snprintf(u->why, sizeof(u->why), "%.159s", why.text);
	return u->package < 0 ? 0 : unc_topology_add(walk->topo, u->package, err);
}

/* Finds the socket of a UBox, after all packages are known: a new package changes socket numbers. */
static void resolve_socket(const struct unc_walk *walk, struct unc_ubox *u)
{
	if (u->package >= 0) {
		u->socket = unc_topology_package(walk->topo, u->package);
		return;
	}
	u->socket = socket_of_bus(walk, u->domain, u->bus);
	if (u->socket < 0 && walk->n_ubox == (size_t)walk->topo->n_sockets &&
	    (walk->n_ubox == 1 || !has_map(walk)))
		u->socket = (int)(u - walk->ubox); /* the only one, or by order */
	if (u->socket >= 0 && !has_map(walk))
		return;
	unc_walk_note(walk, "bus %04x:%02x: %s; socket taken from the kernel: %s", u->domain,
		      u->bus, u->why, u->socket < 0 ? "unknown" : "local CPUs");
}

/* Adds n sockets, of packages without a CPU. */
static int add_unseen_sockets(const struct unc_walk *walk, int n, struct unc_error *err)
{
	int rc = 0;

	for (int package = 0; n > 0 && rc == 0; package++)
		if (unc_topology_package(walk->topo, package) < 0) {
			rc = unc_topology_add(walk->topo, package, err);
			n--;
		}
	return rc;
}

/* Adds sockets for UBoxes whose package is unknown (the right to read it is missing): each UBox is a socket,
 * and if there are more UBoxes than sockets, the others have no online CPU. */
static int add_untold(struct unc_walk *walk, struct unc_error *err)
{
	bool untold = false;

	for (size_t i = 0; i < walk->n_ubox; i++)
		untold |= has_map(walk) && walk->ubox[i].package < 0;
	return untold ? add_unseen_sockets(walk, (int)walk->n_ubox - walk->topo->n_sockets, err)
		      : 0;
}

/* Whether the buses of all UBoxes have this function at the same place; true if it is on none of them. */
static bool all_buses_have(const struct unc_walk *walk, const struct unc_pci_function *f)
{
	const struct unc_ubox *u = walk->ubox, *end = u + walk->n_ubox, *own = NULL;

	for (; u < end; u++)
		if (f->domain == u->domain && f->bus >= u->bus &&
		    f->bus - u->bus < walk->table->topology.buses)
			own = u;
	for (u = own ? walk->ubox : end; u < end; u++) {
		const struct unc_pci_function *o = walk->function;

		while (o < walk->end &&
		       (o->domain != u->domain || o->bus - u->bus != f->bus - own->bus ||
			o->devfn != f->devfn || o->device != f->device))
			o++;
		if (o == walk->end)
			return false;
	}
	return !own || f->device;
}

/*
 * Numbers the UBoxes in order. Without NUMA nodes and the right to read UBoxes only the kernel's PMUs can be
 * used, whose CPU gives the socket: it does not matter which bus belongs to which socket if all are alike.
 */
static void resolve_by_order(const struct unc_walk *walk)
{
	if (walk->n_ubox != (size_t)walk->topo->n_sockets)
		return;
	for (size_t i = 0; i < walk->n_ubox; i++)
		if (!walk->ubox[i].denied || walk->ubox[i].socket >= 0)
			return;
	for (const struct unc_pci_function *f = walk->function; f < walk->end; f++)
		if (!all_buses_have(walk, f))
			return;
	for (size_t i = 0; i < walk->n_ubox; i++)
		walk->ubox[i].socket = (int)i;
}

static int find_uboxes(struct unc_walk *walk, struct unc_error *err)
{
	size_t n = 0;
	int rc = 0;

	for (const struct unc_pci_function *f = walk->function; f < walk->end; f++)
		n += is_ubox(walk, f);
	walk->ubox = calloc(n + 1, sizeof(*walk->ubox));
	if (!walk->ubox)
		return unc_no_memory(err);
	for (const struct unc_pci_function *f = walk->function; f < walk->end && rc == 0; f++) {
		struct unc_ubox *u = &walk->ubox[walk->n_ubox];

		if (!is_ubox(walk, f))
			continue;
		u->domain = f->domain;
		u->bus = f->bus;
		rc = read_package(walk, f, u, err);
		walk->n_ubox++;
	}
	if (rc == 0)
		rc = add_untold(walk, err);
	for (size_t i = 0; i < walk->n_ubox && rc == 0; i++)
		resolve_socket(walk, &walk->ubox[i]);
	if (rc == 0)
		resolve_by_order(walk);
	for (int i = 0; i < walk->topo->n_sockets && rc == 0; i++)
		if (walk->topo->socket[i].cpu < 0)
			unc_walk_note(walk, "socket %d: " UNC_NO_CPU ", its MSRs cannot be read",
				      i);
	return rc;
}

/* Returns the UBox for a bus: its own, that of the bus below, else the next one in the table's direction,
 * else the last in that direction. *own: it is not inherited. */
static const struct unc_ubox *ubox_of_function(const struct unc_walk *walk,
					       const struct unc_pci_function *f, bool *own)
{
	const struct unc_tbl_topology *t = &walk->table->topology;
	const struct unc_ubox *inherited = NULL;
	bool lower = t->inherit == UNC_INHERIT_LOWER;

	*own = true;
	for (size_t i = 0; i < walk->n_ubox; i++) { /* the next one comes last */
		const struct unc_ubox *u = &walk->ubox[lower ? i : walk->n_ubox - 1 - i];

		if (u->domain != f->domain)
			continue;
		if (f->bus >= u->bus && f->bus - u->bus < t->buses)
			return u;
		if (!inherited || (lower ? u->bus < f->bus : u->bus > f->bus))
			inherited = u;
	}
	*own = false;
	return inherited;
}

/* Returns a function of the bus that could not be identified, so it may be the UBox; NULL: none. */
static const struct unc_pci_function *find_unidentified(const struct unc_walk *walk,
							const struct unc_pci_function *f)
{
	for (const struct unc_pci_function *other = walk->function; other < walk->end; other++)
		if (!other->device && other->domain == f->domain && other->bus == f->bus)
			return other;
	return NULL;
}

static int socket_of_function(const struct unc_walk *walk, const struct unc_pci_function *f)
{
	bool own;
	const struct unc_ubox *u = ubox_of_function(walk, f, &own);
	int socket;

	if (own && !too_many_nodes(walk))
		return u->socket;
	socket = socket_by_locality(walk, f);
	if (socket < 0 && own)
		return u->socket;
	if (socket >= 0)
		return socket;
	if (find_unidentified(walk, f))
		return UNC_SOCKET_UNKNOWN;
	if (u)
		return u->socket;
	return walk->topo->n_sockets == 1 ? 0 : UNC_SOCKET_UNKNOWN;
}

/* Whether a bus has a hidden UBox: the bus of the UBox that it would inherit has the same function. */
static bool has_hidden_ubox(const struct unc_walk *walk, const struct unc_pci_function *f)
{
	bool own;
	const struct unc_ubox *u = ubox_of_function(walk, f, &own);

	if (own || !u)
		return false;
	for (const struct unc_pci_function *other = walk->function; other < walk->end; other++)
		if (other->device && other->device == f->device && other->devfn == f->devfn &&
		    other->domain == u->domain && other->bus == u->bus)
			return socket_by_locality(walk, f) < 0;
	return false;
}

/* Makes the socket of all functions on a bus unknown. */
static void forget_bus(struct unc_walk *walk, const struct unc_pci_function *f)
{
	for (const struct unc_pci_function *other = walk->function; other < walk->end; other++)
		if (other->domain == f->domain && other->bus == f->bus)
			walk->socket[other - walk->function] = UNC_SOCKET_UNKNOWN;
}

/* Gives the reason why the socket of a function is not known. */
static void explain_unknown(const struct unc_walk *walk, const struct unc_pci_function *f,
			    struct unc_error *why)
{
	bool own;
	const struct unc_ubox *u = ubox_of_function(walk, f, &own);
	const struct unc_pci_function *other = find_unidentified(walk, f);

	if (!own && other)
		unc_fail(why, UNC_ERR_UNAVAILABLE, "pci %s: %s", unc_function_name(other).text,
			 unc_fs_reason(other->errno_value));
	else
		unc_fail(why, UNC_ERR_UNAVAILABLE, "%s",
			 !u        ? "it has no UBox"
			 : *u->why ? u->why
				   : "its UBox is hidden");
}

int unc_walk_sockets(struct unc_walk *walk, struct unc_error *err)
{
	/* Without UBoxes that give sockets, a socket without online CPUs shows only as offline CPUs:
	 * as many as a socket has count as one socket, so that sums that may lack it are marked. */
	int rc = has_map(walk) ? 0 : add_unseen_sockets(walk, unc_topology_unseen(walk->topo), err);
	size_t n = (size_t)(walk->end - walk->function);

	if (rc == 0)
		rc = find_uboxes(walk, err);
	walk->socket = calloc(n + 1, sizeof(*walk->socket));
	if (rc == 0 && !walk->socket)
		rc = unc_no_memory(err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		walk->socket[i] = UNC_SOCKET_UNASKED;
	for (const struct unc_pci_function *f = walk->function; rc == 0 && f < walk->end; f++)
		if (has_hidden_ubox(walk, f))
			forget_bus(walk, f);
	return rc;
}

int unc_walk_socket(const struct unc_walk *walk, const struct unc_pci_function *f)
{
	int *socket = &walk->socket[f - walk->function];

	if (*socket == UNC_SOCKET_UNASKED)
		*socket = socket_of_function(walk, f);
	return *socket;
}

/* ---- functions of a socket */

const struct unc_pci_function *unc_walk_address(const struct unc_walk *walk, uint64_t address,
						int *socket)
{
	for (const struct unc_pci_function *f = walk->function; f < walk->end; f++)
		if (UNC_PCI(f->domain, f->bus, f->devfn, 0) == UNC_PCI_FUNCTION(address)) {
			*socket = unc_walk_socket(walk, f);
			return f;
		}
	return NULL;
}

static bool at_place(const struct unc_pci_function *f, unsigned device, unsigned devfn)
{
	return f->device == device && (devfn == UNC_ANY_DEVFN || f->devfn == devfn);
}

/* Reports a function that may or may not be the wanted one. */
static int fail_doubtful(const struct unc_walk *walk, const struct unc_pci_function *f, int socket,
			 struct unc_error *err)
{
	struct unc_error why = {0};

	if (unc_walk_socket(walk, f) == socket)
		return unc_fail(err, UNC_ERR_UNAVAILABLE,
				"PCI function %s does not tell what it is: %s",
				unc_function_name(f).text, unc_fs_reason(f->errno_value));
	explain_unknown(walk, f, &why);
	return unc_fail(err, UNC_ERR_UNAVAILABLE,
			"PCI function %s: the socket of its bus is not known: %s",
			unc_function_name(f).text, why.text);
}

int unc_walk_function(const struct unc_walk *walk, int socket, unsigned device, unsigned devfn,
		      const struct unc_pci_function **out, struct unc_error *err)
{
	const struct unc_pci_function *found = NULL, *doubtful = NULL;

	for (const struct unc_pci_function *f = walk->function; f < walk->end; f++) {
		bool is = at_place(f, device, devfn), may = is || at_place(f, 0, devfn);
		int its = may ? unc_walk_socket(walk, f) : UNC_MAX_SOCKETS;
		bool here = its == socket;

		if (here && is && found)
			return unc_fail(err, UNC_ERR_UNAVAILABLE,
					"two PCI functions in one place of socket %d: "
					"%s and %s are both 8086:%04x",
					socket, unc_function_name(found).text,
					unc_function_name(f).text, device);
		if (here && is)
			found = f;
		else if (here || its == UNC_SOCKET_UNKNOWN)
			doubtful = f;
	}
	*out = found;
	if (found)
		return 0;
	if (walk->scan.code)
		return unc_fail(err, UNC_ERR_UNAVAILABLE, "%s", walk->scan.text);
	if (doubtful)
		return fail_doubtful(walk, doubtful, socket, err);
	return unc_fail(err, UNC_ERR_NOT_FOUND, "there is no such PCI function");
}

bool unc_walk_lacks(const struct unc_walk *walk, int socket, unsigned device, unsigned devfn)
{
	const struct unc_pci_function *f;

	return unc_walk_function(walk, socket, device, devfn, &f, NULL) == UNC_ERR_NOT_FOUND;
}
