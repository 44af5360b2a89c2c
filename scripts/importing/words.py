# SPDX-License-Identifier: BSD-3-Clause
"""Plain descriptions of events from the words of their names."""
import re

# What a part of a name stands for. Several words: tried before single ones.
PHRASES = {
    'ACT_COUNT': 'activates (ACT)', 'AD_REQ': 'requests on AD', 'AD_RSP': 'responses on AD',
    'AD_SNP': 'snoops on AD', 'ALL_BANKS': 'all banks', 'ALL_PARTS': 'all ports',
    'BASIC_HDR_MATCH': 'headers that match, by message class', 'BL_NCB': 'non-coherent bypass on BL',
    'BL_NCS': 'non-coherent standard on BL', 'BL_RSP': 'responses on BL', 'BL_WB': 'write backs on BL',
    'BY_CPU': 'by the CPU', 'CAS_COUNT': 'column accesses (CAS)', 'CLOCKTICKS_F': 'clock, fixed counter',
    'CORE_GTONE': 'more than one core', 'FROM_CPU': 'from the CPU', 'HDR_MATCH': 'headers that match',
    'LLC_OR_SF': 'LLC or snoop filter', 'MAJOR_MODES': 'major modes', 'MEM_READ': 'device reads of memory',
    'MEM_WRITE': 'device writes to memory', 'NON_UPI': 'not for UPI', 'NOT_EMPTY': 'not empty',
    'NOT_TAKEN': 'not taken', 'NO_CREDIT': 'no credit', 'NO_CREDITS': 'no credits', 'OF_CPU': 'of the CPU',
    'PAGE_MISS': 'page miss', 'PA_MATCH': 'same address under way', 'PEER_READ': 'device reads of a device',
    'PEER_WRITE': 'device writes to a device', 'POWER_CKE': 'clock enable of power saving',
    'POWER_STATE': 'power state', 'PRE_COUNT': 'precharges (PRE)', 'RSP_DATA': 'responses with data',
    'RSP_NODATA': 'responses without data', 'SELF_REFRESH': 'self refresh',
    'WR_RMM': 'writes in read major mode', 'WR_WMM': 'writes in write major mode',
}
WORDS = {
    'ACK': 'acknowledges', 'ACT': 'activates', 'AD': 'AD', 'AK': 'AK', 'AKC': 'AKC', 'ALL': 'all',
    'ALLOC': 'allocations', 'ANY': 'any', 'ARB': 'arbitration', 'ATOMIC': 'atomic operations', 'AVG': 'mean',
    'BGF': 'clock crossing', 'BL': 'BL', 'BNC': 'bounces', 'BYP': 'bypass', 'BYPASS': 'bypass',
    'BYPASSED': 'bypassed', 'CA': 'caching agent', 'CAS': 'column accesses', 'CBO': 'CBo',
    'CCW': 'counter-clockwise', 'CHA': 'CHA', 'CHN0': 'channel 0', 'CHN1': 'channel 1', 'CHN2': 'channel 2',
    'CKE': 'clock enable', 'CLOCKTICKS': 'clock', 'CMPD': 'completions with data', 'CMS': 'mesh stop',
    'COMP': 'completion', 'COMPL': 'completions', 'CONFLICTS': 'conflicts', 'CPU': 'CPU', 'CRD': 'credits',
    'CRDS': 'credits', 'CREDIT': 'credit', 'CREDITS': 'credits', 'CW': 'clockwise', 'CYCLES': 'clocks',
    'D2C': 'direct to core', 'D2K': 'direct to UPI', 'D2U': 'direct to UPI', 'DCLK': 'DRAM clock', 'DDR': 'DDR',
    'DEALLOC': 'releases', 'DEFEATURE': 'switched off', 'DIR': 'directory', 'DN': 'down', 'DRAM': 'DRAM',
    'DRD': 'data reads', 'DRS': 'data responses', 'E': 'state E', 'EGR': 'egress', 'EGRESS': 'egress',
    'EVEN': 'even polarity', 'EVICT': 'evictions', 'EVICTION': 'evictions', 'EXT': 'from outside',
    'F': 'state F', 'FILL': 'fills', 'FLUSH': 'flushes', 'FREERUN': 'on a counter that always runs',
    'GTONE': 'more than one', 'GV': 'frequency change', 'HA': 'home agent', 'HBM': 'HBM', 'HIT': 'hits',
    'HITME': 'HitMe cache', 'HOM': 'home messages', 'HORZ': 'horizontal', 'HOTPLUG': 'hot plug', 'I': 'state I',
    'IA': 'cores', 'IGR': 'ingress credits', 'IMC': 'memory controller', 'INGR': 'ingress',
    'INGRESS': 'ingress', 'INSERTS': 'entries', 'INV': 'invalidations',
    'INVITOE': 'claims of a line without data', 'INVITOM': 'claims of a line to be written', 'IO': 'devices',
    'IOMMU0': 'IOMMU 0', 'IOMMU1': 'IOMMU 1', 'IPI': 'IPI', 'IPQ': 'snoops of other sockets (IPQ)',
    'IRQ': 'requests of cores (IRQ)', 'ISMQ': 'responses (ISMQ)', 'ISOCH': 'isochronous',
    'ITOM': 'claims of a whole line (ItoM)', 'IV': 'IV', 'LLC': 'LLC', 'LOC': 'local', 'LOCAL': 'local',
    'M': 'state M', 'M2M': 'mesh to memory', 'MISS': 'misses', 'MMIO': 'MMIO', 'MSI': 'MSI', 'NACK': 'refusals',
    'NCB': 'non-coherent bypass', 'NCS': 'non-coherent standard', 'NDR': 'responses without data',
    'NE': 'not empty', 'NID': 'of the nodes of nid', 'NM': 'near memory', 'NONPRE': 'not precharge',
    'NS': 'not snooped', 'OCCUPANCY': 'occupancy', 'ODD': 'odd polarity', 'OPC': 'opcode',
    'OPCODE': 'of the opcode of opc', 'OVF': 'overflow', 'PARTIAL': 'partial', 'PCH0': 'pseudo channel 0',
    'PCH1': 'pseudo channel 1', 'PCIE': 'PCIe', 'PCU': 'PCU', 'PF': 'prefetches', 'PHY': 'physical layer',
    'PKT': 'packets', 'PMA': 'PMA', 'PMM': 'persistent memory', 'PRE': 'precharges', 'PREF': 'prefetches',
    'PRQ': 'requests of devices (PRQ)', 'PTL': 'partial', 'QPI': 'QPI', 'R2': 'R2PCIe', 'R3': 'R3QPI',
    'RD': 'reads', 'READS': 'reads', 'REJ': 'rejected', 'REM': 'remote', 'REMOTE': 'remote', 'REQ': 'requests',
    'REQS': 'requests', 'RFO': 'reads for ownership', 'RMM': 'read major mode', 'RPQ': 'read pending queue',
    'RRQ': 'reads of other sockets (RRQ)', 'RSP': 'responses', 'RTID': 'transaction ids',
    'RxC': 'ingress from the mesh', 'RxL': 'received by the link', 'RxR': 'ingress from the ring',
    'S': 'state S', 'SF': 'snoop filter', 'SNOOP': 'snoops', 'SNP': 'snoops', 'SPEC': 'speculative',
    'TGR': 'transgress', 'THERMAL': 'heat', 'TOR': 'table of requests (TOR)', 'TRK': 'tracker',
    'TxC': 'egress to the mesh', 'TxL': 'sent by the link', 'TXN': 'transactions', 'TxR': 'egress to the ring',
    'UCLK': 'uncore clock', 'UPI': 'UPI', 'VERT': 'vertical', 'VIC': 'victims', 'VN0': 'VN0', 'VN1': 'VN1',
    'VNA': 'VNA', 'VR0': 'virtual ring 0', 'VR1': 'virtual ring 1', 'VTD0': 'IOMMU 0', 'VTD1': 'IOMMU 1',
    'WB': 'write backs', 'WBQ': 'writes of other sockets (WBQ)', 'WMM': 'write major mode',
    'WPQ': 'write pending queue', 'WR': 'writes', 'WRITES': 'writes',
}
CODE_READS = {'CRD': 'code reads'}
BY_CPU = {
    'CFG_READ': 'configuration reads of cores', 'CFG_WRITE': 'configuration writes of cores',
    'IO_READ': 'port reads of cores', 'IO_WRITE': 'port writes of cores',
    'MEM_READ': 'reads of cores from a device', 'MEM_WRITE': 'writes of cores to a device',
}
NUMBERED = {
    'AG': 'agent', 'BAND': 'band', 'BANK': 'bank', 'BANKG': 'bank group', 'CBO': 'CBo', 'CH': 'channel',
    'CHN': 'channel', 'CORE': 'core', 'DIMM': 'module', 'IIO': 'PCIe stack', 'IMC': 'memory controller',
    'LINK': 'link', 'MC': 'memory controller', 'PART': 'port', 'PORT': 'port', 'RANK': 'rank', 'SLOT': 'slot',
    'STACK': 'stack', 'TGR': 'transgress',
}
# The last word of an event's name says what is counted.
KINDS = (('INSERTS', 'entries'), ('ALLOCS', 'allocations'), ('OCCUPANCY', 'entries held each clock'),
         ('CYCLES_NE', 'clocks not empty'), ('CYCLES_FULL', 'clocks full'), ('FULL_CYCLES', 'clocks full'), ('CYCLES', 'clocks'))


def word(part):
    """The words for one part of a name."""
    for known in (part, part.upper()):
        if known in WORDS:
            return WORDS[known]
    numbered = re.fullmatch(r'([A-Za-z]+)_?(\d+)', part)
    if numbered and numbered[1].upper() in NUMBERED:
        return f'{NUMBERED[numbered[1].upper()]} {numbered[2]}'
    if re.search(r'[a-z]', part) and not part.islower():
        return part  # a name with its own spelling: RdCur
    return part if re.search(r'\d', part) else part.lower()


def parts(name, own=None):
    """The words for a whole name; `own`: words that mean something else here."""
    split, words, at = [p for p in re.split(r'[_.]', name) if p], [], 0
    while at < len(split):
        for length in (3, 2, 1):
            phrase = '_'.join(split[at:at + length]).upper()
            known = (own or {}).get(phrase) or PHRASES.get(phrase)
            if at + length <= len(split) and known:
                words.append(known)
                at += length
                break
        else:
            words.append(word(split[at]))
            at += 1
    return ' '.join(words)


def own_words(event):
    """Words with another meaning in this event."""
    if event.upper().endswith('_BY_CPU'):
        return BY_CPU
    return CODE_READS if event.upper().startswith(('TOR_', 'COHERENT_OPS', 'DRD_', 'LLC_LOOKUP')) else None


def describe_event(name):
    for ending, kind in KINDS:
        if name.upper().endswith('_' + ending):
            return f'{kind}: {parts(name[:-len(ending) - 1])}'
    return parts(name)


def describe_umask(name, event):
    return ', '.join(parts(part, own_words(event)) for part in name.split('.'))
