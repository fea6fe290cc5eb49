# SPDX-License-Identifier: MIT
"""When the rules of a table matter to an event that is encoded alone: the mask rule_keys of struct
table, and a flag of rows."""

from language import tables as pt
from language.rules import SINGLE_EFFECTS, STATES

LEVELS = STATES["levels"][0]
ROWS_ALONE = 1    # some rule holds for a row as it is
N_WORDS = 5


def compute_rule_keys(t):
    """Returns the keys of fields that rules of single events test, and ROWS_ALONE. Texts that are
    precise and events without a row are examined in any case."""
    rules = list_rules_alone(t)
    keys = 0
    for f in t.fields:
        key, is_text = pt.read_keys().get(f.name, (0, False))
        if f.modifier and not is_text and any(has_test_of(r, f) for r in rules):
            keys |= 1 << key
    if rules and any(holds_for_row(r, row) for row in list_row_words(t) for r in rules):
        keys |= ROWS_ALONE
    return keys


def mark_rows_without_rule(t):
    """Flags the rows for which no rule holds as they are, or returns at once in most tables."""
    rules = list_rules_alone(t)
    for row, words in zip(t.rows + t.alias_rows, list_row_words(t)) if rules else ():
        if not row.flags & pt.ROW_METRIC and not any(holds_for_row(r, words) for r in rules):
            row.flags |= pt.ROW_WITHOUT_RULE


def list_rules_alone(t):
    """The tests of the rules that can hold for an event that is encoded alone."""
    rules = [split_tests(r) for r in t.rules if r.effect in SINGLE_EFFECTS]
    return [r for r in rules if all(any(can_pass_state(x) for x in either) for either in r)]


def split_tests(r):
    """The tests of a rule: a list of alternatives for each condition."""
    out, either = [], []
    for mask, low, high, word, joins in r.tests:
        either.append((mask, low, high, word))
        if not joins:
            out.append(either)
            either = []
    return out


def has_test_of(tests, f):
    """True if a rule tests bits of field @f."""
    return any(word == at and mask >> lsb & (1 << width) - 1
               for either in tests for mask, _, _, word in either for at, lsb, width in f.ranges)


def can_pass_state(test):
    """True if the test reads a configuration word, levels, or a state that an event which is
    encoded alone has."""
    _, low, _, word = test
    return word < N_WORDS or word == LEVELS or low == 0


def list_row_words(t):
    """Yields (configuration words, bits that unit masks and counters decide) of each row."""
    presets = [(i, f.preset) for i, f in enumerate(t.fields) if f.preset and f.ranges]
    for row in t.rows + t.alias_rows:
        words, open_bits = [0] * N_WORDS, [0] * N_WORDS
        values = dict(presets)
        for f, counter, value in row.values:
            if not t.fields[f].ranges:
                continue
            if counter == pt.ANY_COUNTER:
                values[f] = value
            else:
                add_bits(t.fields[f], open_bits, pt.ALL64)
        for f, value in values.items():
            add_bits(t.fields[f], words, value)
        for g in row.groups:
            group = g if isinstance(g, pt.Group) else t.groups[g]
            add_bits(t.fields[group.field], open_bits, pt.ALL64)
        yield words, open_bits


def add_bits(f, words, value):
    """ORs a value of a field into configuration words."""
    for word, lsb, width in f.ranges:
        words[word] |= (value & (1 << width) - 1) << lsb
        value >>= width


def holds_for_row(tests, row):
    """True if the tests can pass for the words of a row, whatever unit mask and counter it gets."""
    words, open_bits = row
    return all(any(word >= N_WORDS or open_bits[word] & mask or low <= words[word] & mask <= high
                   for mask, low, high, word in either if can_pass_state((mask, low, high, word)))
               for either in tests)
