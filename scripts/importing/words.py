# SPDX-License-Identifier: BSD-3-Clause
"""Plain descriptions of events from the words of their names."""
import re

# What a part of a name stands for. Several words: tried before single ones.
PHRASES = {
    'NOT_TAKEN': 'not taken', 'NOT_EMPTY': 'not empty', 'NO_CREDITS': 'no credits', 'NO_CREDIT': 'no credit',
    'POWER_CKE': 'clock enable of power saving', 'CAS_COUNT': 'column accesses (CAS)', 'ACT_COUNT': 'activates (ACT)',
    'PRE_COUNT': 'precharges (PRE)', 'SELF_REFRESH': 'self refresh', 'PAGE_MISS': 'page miss',
    'MAJOR_MODES': 'major modes', 'CLOCKTICKS_F': 'clock, fixed counter', 'BY_CPU': 'by the CPU', 'OF_CPU': 'of the CPU', 'FROM_CPU': 'from the CPU',
    'MEM_WRITE': 'device writes to memory', 'MEM_READ': 'device reads of memory', 'PEER_WRITE': 'device writes to a device',
    'PEER_READ': 'device reads of a device', 'ALL_PARTS': 'all ports', 'LLC_OR_SF': 'LLC or snoop filter',
    'CORE_GTONE': 'more than one core', 'PA_MATCH': 'same address under way', 'NON_UPI': 'not for UPI',
    'AD_REQ': 'requests on AD', 'AD_RSP': 'responses on AD', 'AD_SNP': 'snoops on AD', 'BL_RSP': 'responses on BL',
    'BL_WB': 'write backs on BL', 'BL_NCB': 'non-coherent bypass on BL', 'BL_NCS': 'non-coherent standard on BL',
    'BASIC_HDR_MATCH': 'headers that match, by message class', 'HDR_MATCH': 'headers that match',
    'RSP_NODATA': 'responses without data', 'RSP_DATA': 'responses with data', 'ALL_BANKS': 'all banks',
    'POWER_STATE': 'power state', 'WR_WMM': 'writes in write major mode', 'WR_RMM': 'writes in read major mode',
}
WORDS = {
    'ACK': 'acknowledges', 'ACT': 'activates', 'AD': 'AD', 'AK': 'AK', 'AKC': 'AKC', 'ALL': 'all', 'ALLOC': 'allocations',
    'ANY': 'any', 'ARB': 'arbitration', 'ATOMIC': 'atomic operations', 'AVG': 'mean', 'BGF': 'clock crossing',
    'BL': 'BL', 'BNC': 'bounces', 'BYP': 'bypass', 'BYPASS': 'bypass', 'BYPASSED': 'bypassed', 'CA': 'caching agent',
    'CAS': 'column accesses', 'CBO': 'CBo', 'CCW': 'counter-clockwise', 'CHA': 'CHA', 'CKE': 'clock enable',
    'CLOCKTICKS': 'clock', 'CMPD': 'completions with data', 'CMS': 'mesh stop', 'COMP': 'completion', 'COMPL': 'completions',
    'CONFLICTS': 'conflicts', 'CRD': 'credits', 'CREDIT': 'credit', 'CREDITS': 'credits', 'CW': 'clockwise',
    'CYCLES': 'clocks', 'D2C': 'direct to core', 'D2K': 'direct to UPI', 'D2U': 'direct to UPI', 'DEALLOC': 'releases',
    'DEFEATURE': 'switched off', 'DIR': 'directory', 'DN': 'down', 'DRD': 'data reads', 'DRS': 'data responses',
    'E': 'state E', 'EGR': 'egress', 'EGRESS': 'egress', 'EVICT': 'evictions', 'EVICTION': 'evictions',
    'EVEN': 'even polarity', 'EXT': 'from outside', 'F': 'state F', 'FILL': 'fills', 'FLUSH': 'flushes', 'GTONE': 'more than one',
    'HA': 'home agent', 'HIT': 'hits', 'HITME': 'HitMe cache', 'HOM': 'home messages', 'HORZ': 'horizontal', 'HOTPLUG': 'hot plug',
    'I': 'state I', 'IA': 'cores', 'IGR': 'ingress credits', 'INGR': 'ingress', 'INGRESS': 'ingress', 'INSERTS': 'entries',
    'INV': 'invalidations', 'INVITOE': 'claims of a line without data', 'INVITOM': 'claims of a line to be written',
    'IO': 'devices', 'IOMMU0': 'IOMMU 0', 'IOMMU1': 'IOMMU 1', 'IPQ': 'snoops of other sockets (IPQ)', 'IRQ': 'requests of cores (IRQ)',
    'ISMQ': 'responses (ISMQ)', 'ISOCH': 'isochronous', 'ITOM': 'claims of a whole line (ItoM)', 'IV': 'IV', 'LOC': 'local',
    'LOCAL': 'local', 'M': 'state M', 'M2M': 'mesh to memory', 'MISS': 'misses', 'NACK': 'refusals', 'NCB': 'non-coherent bypass',
    'NCS': 'non-coherent standard', 'NDR': 'responses without data', 'NE': 'not empty', 'NID': 'of the nodes of nid',
    'NM': 'near memory', 'NONPRE': 'not precharge', 'OCCUPANCY': 'occupancy', 'ODD': 'odd polarity', 'OPC': 'opcode',
    'OPCODE': 'of the opcode of opc', 'OVF': 'overflow', 'PARTIAL': 'partial', 'PCH0': 'pseudo channel 0',
    'PCH1': 'pseudo channel 1', 'PF': 'prefetches', 'PHY': 'physical layer', 'PKT': 'packets', 'PMM': 'persistent memory',
    'PRE': 'precharges', 'PREF': 'prefetches', 'PRQ': 'requests of devices (PRQ)', 'PTL': 'partial', 'QPI': 'QPI', 'R2': 'R2PCIe',
    'R3': 'R3QPI', 'RD': 'reads', 'READS': 'reads', 'REJ': 'rejected', 'REM': 'remote', 'REMOTE': 'remote', 'REQ': 'requests',
    'REQS': 'requests', 'RFO': 'reads for ownership', 'RMM': 'read major mode', 'RPQ': 'read pending queue',
    'RRQ': 'reads of other sockets (RRQ)', 'RSP': 'responses', 'RTID': 'transaction ids', 'RxC': 'ingress from the mesh',
    'RxL': 'received by the link', 'RxR': 'ingress from the ring', 'S': 'state S', 'SF': 'snoop filter', 'SNOOP': 'snoops',
    'SNP': 'snoops', 'SPEC': 'speculative', 'TGR': 'transgress', 'THERMAL': 'heat', 'TOR': 'table of requests (TOR)',
    'TRK': 'tracker', 'TXN': 'transactions', 'TxC': 'egress to the mesh', 'TxL': 'sent by the link', 'TxR': 'egress to the ring',
    'UCLK': 'uncore clock', 'DCLK': 'DRAM clock', 'UPI': 'UPI', 'VERT': 'vertical', 'VIC': 'victims', 'VN0': 'VN0', 'VN1': 'VN1', 'VNA': 'VNA', 'VR0': 'virtual ring 0',
    'VR1': 'virtual ring 1', 'VTD0': 'IOMMU 0', 'VTD1': 'IOMMU 1', 'WB': 'write backs', 'WBQ': 'writes of other sockets (WBQ)', 'WMM': 'write major mode',
    'WPQ': 'write pending queue', 'WR': 'writes', 'WRITES': 'writes', 'FREERUN': 'on a counter that always runs', 'IMC': 'memory controller',
    'CHN0': 'channel 0', 'CHN1': 'channel 1', 'CHN2': 'channel 2', 'GV': 'frequency change', 'NS': 'not snooped', 'CPU': 'CPU', 'CRDS': 'credits',
    'LLC': 'LLC', 'DRAM': 'DRAM', 'DDR': 'DDR', 'HBM': 'HBM', 'PCIE': 'PCIe', 'MMIO': 'MMIO', 'PMA': 'PMA', 'PCU': 'PCU', 'MSI': 'MSI', 'IPI': 'IPI',
}
CODE_READS = {'CRD': 'code reads'}
BY_CPU = {'MEM_WRITE': 'writes of cores to a device', 'MEM_READ': 'reads of cores from a device', 'IO_WRITE': 'port writes of cores',
          'IO_READ': 'port reads of cores', 'CFG_WRITE': 'configuration writes of cores', 'CFG_READ': 'configuration reads of cores'}
NUMBERED = {'PART': 'port', 'PORT': 'port', 'RANK': 'rank', 'BANK': 'bank', 'BANKG': 'bank group', 'CH': 'channel',
            'CHN': 'channel', 'MC': 'memory controller', 'TGR': 'transgress', 'STACK': 'stack', 'CORE': 'core', 'LINK': 'link',
            'SLOT': 'slot', 'BAND': 'band', 'IMC': 'memory controller', 'IIO': 'PCIe stack', 'DIMM': 'module', 'CBO': 'CBo', 'AG': 'agent'}
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
