# SPDX-License-Identifier: MIT
"""Statements about fields of registers, their groups of unit masks and modifiers; and values that
events give them."""

import re

from language import tables as pt
from language.event_meanings import check_tags
from language.head import HeadCompiler
from language.statements import StatementError, Token, unquote_text


def parse_row_flags(value, encoder):
    """The flags of a list, each of which @encoder obeys."""
    flags = 0
    for part in value.split_list():
        if part.raw not in pt.ROW_FLAGS:
            raise StatementError(part.get_position(), "unknown flag '%s'" % part.raw)
        flags |= pt.ROW_FLAGS[part.raw]
        if flags & pt.ROW_METRIC:
            raise StatementError(part.get_position(), "statement 'metric' makes a row a metric")
        if flags & ~(pt.COMMON_ROW_FLAGS | pt.ENCODER_ROW_FLAGS.get(encoder, 0)):
            raise StatementError(part.get_position(), "encoder %s does not support flag '%s'"
                                 % (encoder, part.raw))
    return flags


def check_fit(field, n, token):
    """Checks the number @n of @token against a field."""
    if not field.min <= n <= field.max:
        raise StatementError(token.get_position(), "%s does not fit %s (%d..%d)"
                             % (token.raw, field.name, field.min, field.max))
    return n


FIELDS = {}     # statement -> its parsed field
WORDS = {"config": 0, "config1": 1, "config2": 2, "config3": 3, "config4": 4}


class FieldCompiler(HeadCompiler):
    """Statements from field to default, and values."""

    # ---- fields and groups -----------------------------------------------------------------------

    def put_field(self, token, field):
        """Adds a field, or replaces one that came by use."""
        if self.record_declaration("field", token, field.name):
            self.table.fields[self.table.field_at[field.name]] = field
        else:
            if field.name in self.table.field_at:
                raise StatementError(token.get_position(), "field '%s' exists" % field.name)
            self.table.add_field(field)

    def do_field(self, words):
        """Parses a field statement. Heads repeat statements, so each one is parsed once."""
        said = tuple([w.raw for w in words])
        known = FIELDS.get(said) or self.read_field(words)
        if known:
            FIELDS[said] = known
            self.put_field(words[1], pt.Field(**known))

    def read_field(self, words):
        """Parses a field; None after a reported error."""
        name = self.parse_name(words, "field")
        got = {}

        def read_key(w):
            """Reads bits=, at= or range=."""
            key, value = w.split_pair()
            if key not in ("bits", "at", "range") or value is None:
                raise StatementError(w.get_position(), "unknown key '%s'" % key)
            if key in got:
                raise StatementError(w.get_position(), "'%s' is given twice" % key)
            if key == "bits":
                got[key] = value.parse_number()
                if not 1 <= got[key] <= 64:
                    raise StatementError(value.get_position(), "a field has 1 to 64 bits")
            elif key == "range":
                got[key] = self.parse_ranges(value, pt.ALL64)
                if len(got[key]) != 1:
                    raise StatementError(value.get_position(), "range takes LOW..HIGH")
            else:
                got[key] = self.parse_bit_ranges(value)
        before = len(self.errors)
        self.visit_words(words[2:], read_key)
        if len(self.errors) > before:
            self.origins["broken", name] = words[1], None
            return None
        if not got:
            raise StatementError(words[1].get_position(), "a field needs bits, at or range")
        ranges = got.get("at", ())
        low, high = got.get("range", [(0, None)])[0]
        width = got.get("bits") or sum(r[2] for r in ranges) or max(1, high.bit_length())
        if ranges and width != sum(r[2] for r in ranges):
            raise StatementError(words[1].get_position(), "bits and at disagree about the width")
        if high is not None and high >> width:
            raise StatementError(words[1].get_position(), "range does not fit %d bits" % width)
        return {"name": name, "width": width, "ranges": ranges, "low": low, "high": high,
                "preset": low}

    def do_nofield(self, words):
        """Removes a field of the used part."""
        name = self.parse_name(words, "nofield")
        t = self.table
        if name not in t.field_at:
            raise StatementError(words[1].get_position(), "no field '%s'" % name)
        del t.fields[t.field_at[name]]
        t.field_at = {f.name: i for i, f in enumerate(t.fields)}
        self.origins.pop(("field", name))
        self.modifiers = [m for m in self.modifiers if m[1] != name]

    def do_register(self, words):
        """Declares extra registers and their fields for users."""
        if len(words) != 3 or words[2].split_pair()[0] != "field":
            raise StatementError(words[-1].get_position(), "register takes numbers and field=NAME")
        for part in words[1].split_list():
            self.registers[part.parse_number()] = words[2].split_pair()[1].raw

    @staticmethod
    def parse_bit_ranges(value):
        """Parses config1:0-7,32: [(word, lowest bit, width)]."""
        word, colon, bits = value.raw.partition(":")
        if not colon or word not in WORDS:
            raise StatementError(value.get_position(),
                                 "expected config, config1 ... config4, a colon and bits")
        out, used = [], 0
        for part in Token(bits, *value.get_position(len(word) + 1)).split_list():
            m = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", part.raw)
            low, high = (int(m[1]), int(m[2] or m[1])) if m else (1, 0)
            if not low <= high < 64:
                raise StatementError(part.get_position(), "bad bits '%s'" % part.raw)
            mask = (1 << (high + 1)) - (1 << low)
            if used & mask:
                raise StatementError(part.get_position(), "bits given twice")
            used |= mask
            out.append((WORDS[word], low, high - low + 1))
        if len(out) > pt.MAX_RANGES:
            raise StatementError(value.get_position(), "more than %d bit ranges" % pt.MAX_RANGES)
        return out

    def parse_words(self, tokens_, numbered):
        """Parses words of a trait or choice. A:0..6 is seven words, A/B two spellings, A=N sets a
        value."""
        words, seen, position = [], {}, 0

        def add_word(w):
            """Adds a word, or the words of a short form."""
            nonlocal position
            key, value = w.split_pair()
            if value is not None and not numbered:
                raise StatementError(value.get_position(), "words of a trait have no values")
            m = re.fullmatch(r"(.*?)([0-9]{1,4})\.\.([0-9]{1,4})", key)
            names = [["%s%d" % (m[1], n)]
                     for n in range(int(m[2]), int(m[3]) + 1)] if m else [key.split("/")]
            if m and (int(m[2]) > int(m[3]) or value is not None):
                raise StatementError(w.get_position(), "bad range of words")
            if value is not None:
                position = value.parse_number()
            for spellings in names:
                for s in spellings:
                    folded = pt.fold(s)
                    if not folded or folded in seen:
                        raise StatementError(
                            w.get_position(),
                            "the word '%s' is given twice" % s if folded else "an empty word")
                    seen[folded] = s
                    self.check_room(w, len(words) + 1, "words")
                    words.append(pt.Word(s, position if numbered else 1 << position))
                position += 1
        self.visit_words(tokens_, add_word)
        return words

    def do_trait(self, words):
        """Declares a set of words."""
        name = self.parse_name(words, "trait")
        got = self.parse_words(words[2:], False)
        if not got and len(words) > 2:
            return               # reported already
        if not got or len({w.value for w in got}) > 64:
            raise StatementError(words[1].get_position(), "a trait has 1 to 64 words")
        high = max(w.value for w in got) * 2 - 1
        self.put_field(words[1], pt.Field(name, pt.TRAIT, high.bit_length(), words=got, high=high))

    def do_choice(self, words):
        """Declares a list of words, of which a row has one."""
        name = self.parse_name(words, "choice")
        got = self.parse_words(words[2:], True)
        if not got and len(words) > 2:
            return
        if not got:
            raise StatementError(words[1].get_position(), "a choice needs words")
        high = max(w.value for w in got)
        self.put_field(words[1], pt.Field(name, pt.CHOICE, max(1, high.bit_length()), words=got,
                                          high=high))

    def do_text(self, words):
        """Declares a text."""
        if len(words) > 2:
            raise StatementError(words[2].get_position(), "text takes one name")
        self.put_field(words[1] if len(words) > 1 else words[0],
                       pt.Field(self.parse_name(words, "text"), pt.TEXT, 32))

    def do_group(self, words):
        """Declares unit masks."""
        name = self.parse_name(words, "group")
        if len(words) < 3 or words[2].raw not in ("one", "any"):
            raise StatementError(words[min(2,
                                           len(words) - 1)].get_position(),
                                 "after its name, a group says one or any")
        replaces = self.record_declaration("group", words[1], name)
        got, values, seen = {}, [], {}

        def read_key(w):
            """Reads a key of the group, or one of its values."""
            key, value = w.split_pair()
            if value is None:
                raise StatementError(w.get_position(), "a group takes VALUE=NUMBER")
            if key in ("field", "default", "mask", "explicit"):
                if key in got:
                    raise StatementError(w.get_position(), "'%s' is given twice" % key)
                got[key] = value
                return
            number = value.split_list(":")[0]
            desc = value.raw[len(number.raw):]
            if desc and not re.fullmatch(r':"(?:[^"\\]|\\.)*"', desc):
                raise StatementError(value.get_position(len(number.raw)),
                                     "a value's description is a quoted text after a colon")
            n = number.parse_number()
            for s in key.split("/"):
                folded = pt.fold(s)
                if not folded or folded in seen:
                    raise StatementError(
                        w.get_position(),
                        "the word '%s' is given twice" % s if folded else "an empty word")
                seen[folded] = n
                self.check_room(w, len(values) + 1, "values")
                values.append((pt.Word(s, n, unquote_text(desc[1:])), number))
        before = len(self.errors)
        self.visit_words(words[3:], read_key)
        if len(self.errors) > before:
            self.groups[name] = None       # declared with an error: no further errors for its uses
            return
        if not values:
            raise StatementError(words[1].get_position(), "a group needs values")
        self.groups[name] = (words, got, values, seen, words[2].raw == "any", replaces)

    def make_groups(self):
        """Makes the groups. Call it after all fields are known."""
        t = self.table
        for name, parts in list(self.groups.items()):
            if not parts:
                continue
            words, got, values, seen, union, _ = parts
            self.groups[name] = None
            field = got["field"].raw if "field" in got else "umask"
            if field not in t.field_at:
                if ("broken", field) not in self.origins:
                    self.report_error(
                        got.get("field", words[1]).get_position(), "unknown field '%s'" % field)
                continue
            index = t.field_at[field]
            f = t.fields[index]
            fits = True
            for w, token in values:
                if w.value >> f.width:
                    self.report_error(token.get_position(),
                                      "0x%x does not fit field %s" % (w.value, field))
                    fits = False
            flags = pt.GROUP_COMBINABLE if union else 0
            preset = 0
            try:
                if "default" in got and got["default"].raw == "!":
                    flags |= pt.GROUP_REQUIRED
                elif "default" in got:
                    flags |= pt.GROUP_HAS_DEFAULT
                    parts = got["default"].split_list()
                    if len(parts) > 1 and not union:
                        raise StatementError(got["default"].get_position(),
                                             "a group of one value has one default")
                    for p in parts:
                        if pt.fold(p.raw) not in seen:
                            raise StatementError(p.get_position(),
                                                 "the group has no value '%s'" % p.raw)
                        preset |= seen[pt.fold(p.raw)]
                mask = got["mask"].parse_number() if "mask" in got else None
                if "explicit" in got and got["explicit"].parse_number():
                    flags |= pt.GROUP_EXPLICIT_IN_LIBPFM
            except StatementError as e:
                self.report_error(e.where, e.text)
                continue
            if not fits:
                continue
            group = pt.Group(name, flags, index, [w for w, _ in values], preset, mask)
            if any(w.value & ~group.mask for w in group.words) or group.mask >> f.width:
                self.report_error(got["mask"].get_position(),
                                  "the mask does not fit the values and the field")
                continue
            self.groups[name] = len(t.groups)
            t.groups.append(group)

    def do_modifier(self, words):
        """Declares a modifier; its field may come later."""
        name = self.parse_name(words, "modifier")
        self.record_declaration("modifier", words[1], name)
        got = {}

        def read_key(w):
            """Reads field= or max=."""
            key, value = w.split_pair()
            if key not in ("field", "max") or value is None or key in got:
                raise StatementError(w.get_position(), "unknown key '%s'" % key if key not in got
                                     else "'%s' is given twice" % key)
            got[key] = value if key == "field" else value.parse_number()
        self.visit_words(words[2:], read_key)
        self.modifiers.append((words[1], name, got))

    def make_modifiers(self):
        """Marks the fields of modifiers."""
        t = self.table
        for token, name, got in self.modifiers:
            field = got["field"].raw if "field" in got else name
            if field not in t.field_at:
                if ("broken", field) not in self.origins:
                    self.report_error(
                        got.get("field", token).get_position(), "unknown field '%s'" % field)
                continue
            f = t.fields[t.field_at[field]]
            if name != field:       # a second name for the same bits
                if name in t.field_at:
                    self.report_error(token.get_position(), "'%s' is a field already" % name)
                    continue
                f = pt.Field(name, f.kind, f.width, f.ranges, words=f.words, low=f.min, high=f.max)
                t.add_field(f)
            f.modifier = True
            if "max" in got:
                if got["max"] >> f.width:
                    self.report_error(token.get_position(), "max does not fit the field")
                else:
                    f.max = got["max"]

    def do_default(self, words):
        """Keeps the defaults of rows."""

        def set_default(w):
            """Keeps one default."""
            key, value = w.split_pair()
            if value is None:
                raise StatementError(w.get_position(), "default takes KEY=VALUE")
            self.record_declaration("default", w, key)
            self.default[key] = w
        self.visit_words(words[1:], set_default)

    def finish_head(self):
        """Completes everything that rows refer to, in the order of dependence."""
        self.make_modifiers()
        self.make_groups()
        t = self.table
        for key, w in self.default.items():
            try:
                value = w.split_pair()[1]
                if key == "on":
                    self.default_counters = 0 if value.raw == "none" else self.parse_counters(value)
                elif key == "flags":
                    self.default_flags = parse_row_flags(value, t.encoder)
                elif key == "umasks":
                    self.default_groups = self.parse_groups(value)
                else:
                    f = self.find_field_index(w, key)
                    n = self.parse_field_value(t.fields[f], value)
                    if type(n) is str:
                        raise StatementError(w.get_position(), "texts have no default")
                    t.fields[f].preset = n
            except StatementError as e:
                self.report_error(e.where, e.text)

    # ---- values ----------------------------------------------------------------------------------

    def find_field_index(self, token, key):
        """Index of a field. Fields of texts that any table may have are added at first use."""
        t = self.table
        if key in t.field_at:
            return t.field_at[key]
        known = pt.read_keys().get(key)
        if known and known[1]:
            return t.add_field(pt.Field(key, pt.TEXT, 32))
        if key == "on_htoff":
            return t.add_field(pt.Field(key, pt.NUMBER, 64))
        if ("broken", key) in self.origins:
            raise StatementError(token.get_position(), "'%s' could not be declared" % key)
        raise StatementError(token.get_position(), "unknown key '%s'" % key)

    def parse_field_value(self, f, value):
        """Parses a value of a field of any kind."""
        if f.kind == pt.TEXT:
            text = value.get_text()
            if f.name == "meaning":
                check_tags(value, text)
            return text
        if f.name == "on_htoff":
            # with hyper-threading off there may be more
            return self.parse_counters(value, False)
        if f.kind == pt.NUMBER:
            return check_fit(f, value.parse_number(), value)
        total = 0
        for part in value.split_list() if f.kind == pt.TRAIT else [value]:
            folded = pt.fold(part.raw)
            found = [w.value for w in f.words if pt.fold(w.name) == folded]
            if not found and f.kind == pt.TRAIT and folded in (b"none",
                                                               b"") and part.raw == value.raw:
                return 0
            if not found:
                raise StatementError(part.get_position(),
                                     "%s has no word '%s'" % (f.name, part.raw))
            total |= found[0]
        return total

    def parse_counters(self, value, known=True):
        """Parses 0..3,F0 to a mask; @known: the counters must exist."""
        everything = self.table.get_all_counters() if known else pt.ALL64
        bits = 0
        for part in value.split_list():
            m = re.fullmatch(r"(F?)([0-9]{1,3})(?:\.\.(F?)([0-9]{1,3}))?", part.raw)
            if not m or (m[3] and not m[1]) or int(m[4] or m[2]) < int(m[2]) or int(m[4]
                                                                                    or m[2]) > 31:
                raise StatementError(part.get_position(), "bad counter '%s'" % part.raw)
            base = 32 if m[1] else 0
            these = ((2 << int(m[4] or m[2])) - (1 << int(m[2]))) << base
            if these & ~everything:
                raise StatementError(part.get_position(), "counter '%s' does not exist" % part.raw)
            bits |= these
        return bits

    def parse_groups(self, value):
        """Parses the names of groups to their numbers."""
        out = []
        for part in value.split_list():
            if part.raw not in self.groups:
                raise StatementError(part.get_position(), "unknown group '%s'" % part.raw)
            if self.groups[part.raw] is not None:
                if self.groups[part.raw] in out:
                    raise StatementError(part.get_position(),
                                         "group '%s' is taken twice" % part.raw)
                out.append(self.groups[part.raw])
        if len(out) > pt.MAX_ROW_GROUPS:
            raise StatementError(value.get_position(),
                                 "an event takes at most %d groups" % pt.MAX_ROW_GROUPS)
        return tuple(out)
