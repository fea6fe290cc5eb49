# SPDX-License-Identifier: MIT
"""What stands before the values of a row of an x86 core that is ready to be encoded as it is: table.h, row_ready()."""

from pmlayout import FIELD_OF_MSR
from pmtable import ANYWHERE, ROW_EXTRA, ROW_FREE_RUNNING, ROW_MASKS, ROW_METRIC, ROW_READY, TABLE_REPLACES, TABLE_VIEW

READY_WIDE = 0x80000000
READY_CONFIG = 0xFF00FFFF
READY_VALUE_SHIFT, READY_MSR_SHIFT = 16, 20
READY_ALTERNATIVES = 0x400000
EXTRA_MSRS = tuple(FIELD_OF_MSR)[:4]
NOTHING, NEVER, MSR, ALTERNATIVE, FIRST, SECOND = range(6)      # what a value of a field does to a row


class Ready:
    """What rows of one table come to. Many tables have the same fields and the same values: what these come to is remembered."""

    known = {}      # kinds of the fields -> values that matter -> sum_of()

    def __init__(self, t, flags):
        self.usable = t.encoder == "x86" and not flags & (TABLE_REPLACES | TABLE_VIEW)
        self.kinds = tuple(map(self.kind, t.fields)) if self.usable else ()
        self.widths = [sum(width for _, _, width in f.ranges) for f in t.fields]
        self.matters = [kind != NOTHING for kind, _, _ in self.kinds]
        self.seen = self.known.setdefault(self.kinds, {})

    @staticmethod
    def kind(f):
        """(what a value does, the field's name, the bits of the first word that it has, lowest first)"""
        if f.name in ("arch_bit", "alt", "msr"):
            return {"arch_bit": NEVER, "alt": ALTERNATIVE, "msr": MSR}[f.name], f.name, ()
        words = {word for word, _, _ in f.ranges}
        if f.name in FIELD_OF_MSR.values():
            whole = len(f.ranges) == 1 and f.ranges[0][:2] == (1, 0)
            return SECOND if whole else NEVER, f.name, ()
        return FIRST if words == {0} else NEVER if words else NOTHING, f.name, tuple(f.ranges)

    def word(self, row, values, groups):
        """(flags, first word of the configuration, what else that word has) of a row with these @values, (field, counter, value) in order,
        and these @groups; None if it is not ready."""
        if not self.usable or not values or row.flags & (ROW_METRIC | ROW_FREE_RUNNING):
            return None
        matters = self.matters
        key = tuple([v for v in values if matters[v[0]]])
        if row.takes:
            return self.word_of_masks(key, values, groups)
        if key not in self.seen:
            self.seen[key] = self.sum_of(key)
        of, second = self.seen[key]
        if second is None:
            return of
        at = [f for f, _, _ in values].index(second)
        return (of[0], of[1], of[2] | at << READY_VALUE_SHIFT) if at < 16 else None

    def word_of_masks(self, key, values, groups):
        """word() of a row that takes @groups, where they add bits of the first word and of its extra register alone."""
        msr, fields = next((v for f, _, v in key if self.kinds[f][0] == MSR), 0), {g.field for g in groups}
        names = {self.kinds[f][1] for f, _, _ in values}
        if msr and (msr not in EXTRA_MSRS or "msr_value" in names):
            return None
        for f in fields:
            kind, name, ranges = self.kinds[f]
            if not (kind == FIRST and len(ranges) == 1 or kind == SECOND and msr and name == FIELD_OF_MSR[msr]):
                return None
        if any(value >> self.widths[g.field] for g in groups for value in [g.preset] + [w.value for w in g.words]):
            return None
        of = self.sum_of(tuple(v for v in key if self.kinds[v[0]][0] != MSR))[0]
        if not of or of[0] & ROW_EXTRA:
            return None
        if not msr:
            return (ROW_MASKS,) + of[1:]
        return None if of[1] & ~(READY_CONFIG & ~READY_WIDE) else (ROW_MASKS | ROW_EXTRA, of[1], EXTRA_MSRS.index(msr) << READY_MSR_SHIFT)

    def sum_of(self, values):
        """word() of a row with these @values beside those that do nothing, and the field of the one for an extra register, whose place
        word() adds."""
        config, msr, second, alternatives = 0, 0, None, False
        for f, counter, value in values:
            kind, name, ranges = self.kinds[f]
            if kind == NEVER or counter != ANYWHERE or kind == SECOND and second:
                return None, None
            if kind == MSR:
                msr = msr or value
            elif kind == ALTERNATIVE:
                alternatives = True
            elif kind == SECOND:
                second = name, value, f
            for _, lsb, width in ranges:
                config |= (value & (1 << width) - 1) << lsb
                value >>= width
        if config & 0xFF == 0 and config >> 8 & 0xFF >= 0x80:
            return None, None     # a figure that is read beside a counter
        if not msr and not second:
            return None if alternatives else (ROW_READY, config, 0), None
        if not second or msr not in EXTRA_MSRS or second[0] != FIELD_OF_MSR[msr] or not second[1] or config & ~(READY_CONFIG & ~READY_WIDE):
            return None, None
        rest = EXTRA_MSRS.index(msr) << READY_MSR_SHIFT | (READY_ALTERNATIVES if alternatives else 0)
        return (ROW_READY | ROW_EXTRA, config, rest), second[2]
