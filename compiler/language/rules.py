# SPDX-License-Identifier: MIT
"""Rules: which counters an event gets under a condition, and which events can be counted together.

rule NAME CONDITION... EFFECT "sentence" "source"

All conditions must hold. FIELD=... compares the bits that the field has in the event's configuration
words, so a rule also holds for events that are given by their numbers.
"""

from language import tables as pt
from language.fields import FieldCompiler, check_fit
from language.statements import StatementError, Token

# Conditions beside fields: (word of struct rule_test, the highest value).
STATES = {"precise": (5, 3), "levels": (6, 15), "htoff": (7, 1), "sampled": (8, 1),
          "counted": (9, 1)}
# Facts of the machine at hand: (bit of the word of facts, as enum machine_fact).
FACTS = {"smt": 0, "guest": 1, "watchdog": 2, "tsx": 3, "tsx_reserve": 4}
FACT_WORD = 10
LEVELS = {"kernel": ((1, 1),), "user": ((8, 8),), "one": ((1, 1), (8, 8))}
EFFECTS = {"on": pt.RULE_COUNTERS, "refuse": pt.RULE_REFUSE, "pair": pt.RULE_PAIR,
           "follow": pt.RULE_FOLLOW, "share": pt.RULE_SHARE, "limit": pt.RULE_LIMIT,
           "needs": pt.RULE_NEEDS, "class": pt.RULE_CLASS, "note": pt.RULE_NOTE,
           "place": pt.RULE_PLACE}
PLACES = {"first": pt.NEED_FIRST, "before": pt.NEED_BEFORE}    # of the needed event
BARE = ("refuse", "class", "note", "follow")      # effects without a value
COUNTER_EFFECTS = (pt.RULE_COUNTERS, pt.RULE_PLACE)
# Effects on the counters of single events.
SINGLE_EFFECTS = (*COUNTER_EFFECTS, pt.RULE_REFUSE, pt.RULE_PAIR, pt.RULE_FOLLOW)
EVEN_COUNTERS = 0x55555555


class RuleCompiler(FieldCompiler):
    """Statements that begin with rule. Their names are looked up when all fields are known."""

    def do_rule(self, words):
        """Keeps a rule for finish_rules()."""
        name = self.parse_name(words, "rule")
        self.record_declaration("rule", words[1], name)
        self.rules[name] = words

    def do_norule(self, words):
        """Removes a rule of the used part."""
        name = self.parse_name(words, "norule")
        if self.rules.pop(name, None) is None:
            raise StatementError(words[1].get_position(), "no rule '%s'" % name)
        self.origins.pop(("rule", name))

    def finish_rules(self):
        """Makes the rules. Call it after all fields and counters are known."""
        self.rule_at = {name: i for i, name in enumerate(self.rules)}
        for words in self.rules.values():
            try:
                self.table.rules.append(self.make_rule(words))
            except StatementError as e:
                self.report_error(e.where, e.text)
        self.drop_inapplicable_rules()
        self.check_pairs()
        self.check_moves()

    def drop_inapplicable_rules(self):
        """Drops rules of sections whose counters the table lacks altogether: an imported list of
        few counters is left as it is."""
        everything = self.table.get_all_counters()
        for r in self.table.rules:
            if r.effect in COUNTER_EFFECTS and not r.value & everything:
                r.effect = pt.RULE_CLASS

    def make_rule(self, words):
        """Makes a rule from the words of its statement."""
        texts = [w for w in words[2:] if w.is_text()]
        r = pt.Rule(words[1].raw, [t.get_text() for t in texts], words[1])
        self.given = {}
        for w in words[2:]:
            if not w.is_text():
                self.add_rule_word(r, w)
        if r.effect is None:
            raise StatementError(words[1].get_position(), "the rule has no effect")
        if len(texts) != (0 if r.effect == pt.RULE_CLASS else 2):
            raise StatementError(words[-1].get_position(),
                                 "a class takes no text, other rules a sentence and a source")
        if not r.tests and r.effect in (*SINGLE_EFFECTS, pt.RULE_CLASS):
            raise StatementError(words[1].get_position(), "the rule is for every event")
        return r

    def add_rule_word(self, r, w):
        """Adds one condition or effect."""
        key, value = w.split_pair()
        if key in self.given:
            raise StatementError(w.get_position(), "'%s' is given twice" % key)
        self.given[key] = w
        if key == "else" and value is not None:
            if r.effect != pt.RULE_SHARE:
                raise StatementError(w.get_position(), "else belongs after share=FIELD")
            r.effect, r.number = pt.RULE_MOVE, self.find_other_rule(r, value)
        elif key in PLACES and value is None:
            if r.effect != pt.RULE_NEEDS:
                raise StatementError(w.get_position(), "%s belongs after needs=RULE" % key)
            r.first = PLACES[key]
        elif key == "per" and value is not None:
            self.add_rule_groups(r, w, self.list_rule_bits(value))
        elif key in EFFECTS and (value is None) == (key in BARE):
            self.set_rule_effect(r, w, key, value)
        elif key == "machine" and value is not None:
            self.add_fact_tests(r, value)
        elif key in STATES and value is not None:
            self.add_state_tests(r, key, value)
        elif value is None:
            raise StatementError(w.get_position(), "expected FIELD=VALUE or an effect, got '%s'"
                                 % w.raw)
        else:
            self.add_field_tests(r, w, key, value)

    @staticmethod
    def add_rule_groups(r, w, bits):
        """Only events with equal bits are compared, or limited."""
        if r.effect not in (pt.RULE_LIMIT, pt.RULE_SHARE):
            raise StatementError(w.get_position(), "per belongs after limit=N or share=FIELD")
        if r.effect == pt.RULE_SHARE:
            r.number = len(bits)
        r.parts = bits + r.parts

    def set_rule_effect(self, r, w, key, value):
        """Sets the effect, of which a rule has one."""
        if r.effect is not None:
            raise StatementError(w.get_position(), "a rule has one effect")
        r.effect = EFFECTS[key]
        if key in ("on", "place"):
            # A section is for several tables, some of which have fewer counters.
            is_own = value.get_position()[0] == self.at_name[0]
            r.value = self.parse_counters(value, known=is_own)
        elif key == "pair":
            r.value = value.parse_number()
        elif key == "share":
            r.parts = self.list_rule_bits(value)
        elif key == "limit":
            r.number = value.parse_number()
            if not 0 < r.number < 64:
                raise StatementError(value.get_position(), "a limit is 1 to 63 events")
        elif key == "needs":
            r.number = self.find_other_rule(r, value)

    def find_other_rule(self, r, value):
        """Number of another rule that this one names."""
        if value.raw not in self.rule_at:
            raise StatementError(value.get_position(), "unknown rule '%s'" % value.raw)
        if value.raw == r.name:
            raise StatementError(value.get_position(), "a rule cannot need itself")
        return self.rule_at[value.raw]

    def add_state_tests(self, r, key, value):
        """Adds tests of a state: precision, levels, hyper-threading, samples."""
        word, most = STATES[key]
        self.add_tests(r, value, word, most, self.list_state_ranges(key, value, most))

    @staticmethod
    def list_state_ranges(key, value, most):
        """Parses the values of a state to ranges."""
        if key == "levels":
            if value.raw not in LEVELS:
                raise StatementError(value.get_position(), "levels are user, kernel or one")
            return LEVELS[value.raw]
        return [parse_rule_range(part, most) for part in value.split_list()]

    def add_field_tests(self, r, w, key, value):
        """Adds tests for values, ranges and VALUE/MASK of a field."""
        f = self.table.fields[self.find_rule_field(w, key)]
        word = f.ranges[0][0]
        for part in value.split_list():
            number, slash, mask = part.raw.partition("/")
            low, high = parse_rule_range(Token(number, *part.get_position()), f.max)
            bits = Token(mask, *part.get_position(len(number) + 1)).parse_number() if slash \
                else (1 << f.width) - 1
            check_fit(f, low, part)
            if (low | high) & ~bits:
                raise StatementError(part.get_position(), "the value has bits outside its mask")
            r.tests.append((*[pt.place_bits(f, x) for x in (bits, low, high)], word, 1))
        r.tests[-1] = (*r.tests[-1][:4], 0)

    @staticmethod
    def add_fact_tests(r, value):
        """One of the facts must be true."""
        for part in value.split_list():
            if part.raw not in FACTS:
                raise StatementError(part.get_position(), "expected one of %s, got '%s'"
                                     % (", ".join(FACTS), part.raw))
            bit = 1 << FACTS[part.raw]
            r.tests.append((bit, bit, bit, FACT_WORD, 1))
        r.tests[-1] = (*r.tests[-1][:4], 0)

    def add_tests(self, r, value, word, most, ranges):
        """Adds alternative tests of ranges."""
        mask = (1 << most.bit_length()) - 1
        if tuple(ranges) == ((0, most),):
            raise StatementError(value.get_position(), "the condition always holds")
        r.tests += [(mask, low, high, word, 1) for low, high in ranges]
        r.tests[-1] = (*r.tests[-1][:4], 0)

    def find_rule_field(self, token, key):
        """Finds a field whose bits a rule can test."""
        at = self.table.field_at.get(key)
        if at is None:
            raise StatementError(token.get_position(), "unknown field or effect '%s'" % key)
        f = self.table.fields[at]
        if not f.ranges or len({word for word, _, _ in f.ranges}) > 1:
            raise StatementError(token.get_position(),
                                 "field '%s' has no bits in one configuration word" % key)
        if any(a[1] > b[1] for a, b in zip(f.ranges, f.ranges[1:])):
            raise StatementError(token.get_position(), "the bits of '%s' are not in order" % key)
        return at

    def list_rule_bits(self, value):
        """The bits of FIELD or FIELD/MASK in configuration words: [(mask, word)]."""
        masks = {}
        for part in value.split_list():
            if part.raw == "levels":
                word, most = STATES["levels"]
                masks[word] = most
                continue
            name, slash, mask = part.raw.partition("/")
            f = self.table.fields[self.find_rule_field(part, name)]
            bits = pt.ALL64
            if slash:
                token = Token(mask, *part.get_position(len(name) + 1))
                bits = token.parse_number()
                check_fit(f, bits, token)
            masks[f.ranges[0][0]] = masks.get(f.ranges[0][0], 0) | pt.place_bits(f, bits)
        return [(mask, word) for word, mask in sorted(masks.items())]

    def check_pairs(self):
        """Checks that each pair has an even counter with an odd neighbour, and that the odd ones
        stay free for pairs."""
        everything = self.table.get_all_counters()
        pairs = [r for r in self.table.rules if r.effect == pt.RULE_PAIR]
        for r in pairs:
            if not everything & EVEN_COUNTERS & everything >> 1:
                self.report_error(r.where.get_position(), "no even counter has an odd neighbour")
            if r.value != pairs[0].value:
                self.report_error(r.where.get_position(),
                                  "the pairs of a processor have one companion")
        for r in self.table.rules:
            same = [p for p in pairs if p.tests == r.tests]
            if r.effect == pt.RULE_COUNTERS and same and not r.value & EVEN_COUNTERS:
                self.report_error(self.rules[r.name][1].get_position(),
                                  "a pair begins on an even counter: rule '%s'" % same[0].name)
            self.check_contradiction(r)

    def check_moves(self):
        """Checks that an event can move to the rule that else names: both compare one part, and
        their conditions are single values of fields."""
        made, names = {r.name: r for r in self.table.rules}, list(self.rules)
        for r in self.table.rules:
            other = made.get(names[r.number]) if r.effect == pt.RULE_MOVE else None
            if not other:
                continue
            if not (other.effect == pt.RULE_MOVE and all(map(can_move, (r, other)))
                    and self.get_part_width(r) == self.get_part_width(other)):
                self.report_error(r.where.get_position(),
                                  "events cannot move from rule '%s' to rule '%s'"
                                  % (r.name, other.name))

    @staticmethod
    def get_part_width(r):
        """Bits of the part that events of the rule share."""
        return bin(r.parts[0][0]).count("1")

    def check_contradiction(self, r):
        """Refuses two rules of one condition that leave no counter."""
        for other in self.table.rules:
            if other is r:
                return
            effects = {r.effect, other.effect}
            if sorted(other.tests) != sorted(r.tests) or not effects <= {
                    pt.RULE_COUNTERS, pt.RULE_REFUSE, pt.RULE_PAIR}:
                continue
            if pt.RULE_REFUSE in effects or effects == {pt.RULE_COUNTERS} \
                    and not r.value & other.value:
                self.report_error(r.where.get_position(), "rule '%s' contradicts rule '%s'"
                                  % (r.name, other.name))
                return


def can_move(r):
    """True if the rule compares one part and tests single values of configuration words."""
    return len(r.parts) == 1 and all(low == high and word < 5 and not joins
                                     for _, low, high, word, joins in r.tests)


def parse_rule_range(token, most):
    """Returns (low, high) of N or A..B."""
    first, dots, last = token.raw.partition("..")
    low = Token(first, *token.get_position()).parse_number()
    high = Token(last, *token.get_position(len(first) + 2)).parse_number() if dots else low
    if high < low or high > most:
        raise StatementError(token.get_position(), "'%s' is out of range (0..%d)"
                             % (token.raw, most))
    return low, high
