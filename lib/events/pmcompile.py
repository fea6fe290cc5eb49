# SPDX-License-Identifier: MIT
"""One .pmu file, with all that it uses, to a table."""

import os

import pmtable as pt
from pmfields import Fields
from pmtext import NAME, Bad, Token, tokens

MAX_FILE = 16 << 20
MAX_USE = 8
IDENTITY = ("pmu", "aka", "match", "fallback", "view", "test", "source")   # never taken over by `use`
ROW_STATEMENTS = ("event", "synonym", "unsupported", "drop")


class Compiler(Fields):
    """One .pmu file, with all that it uses, to a Table."""

    # ---- reading -----------------------------------------------------------------------------------------------

    def load(self, path, stack=()):
        """[(tokens, inherited)] of a file with its `use` statements replaced by what they bring."""
        out = []
        self.files.append(path)
        try:
            if os.path.getsize(path) > MAX_FILE:
                raise Bad((path, 1, 1), "file is too big")
            with open(path, "rb") as f:
                text = f.read().decode("utf-8")
        except OSError as e:
            raise Bad((path, 1, 1), e.strerror or str(e))
        except UnicodeDecodeError as e:
            raise Bad((path, 1, 1), "not UTF-8 at byte %d" % e.start)
        for s in tokens(text, path, self.errors):
            if s[0].raw != "use":
                out.append((s, False))
                continue
            if len(s) != 2 or s[1].is_text() or "/" in s[1].raw:
                self.error(s[-1].at(), "use takes one file of this folder")
                continue
            other = os.path.join(os.path.dirname(path), s[1].raw)
            if other in stack + (path,) or len(stack) >= MAX_USE:
                self.error(s[1].at(), "files use each other in a circle")
                continue
            try:
                out += [(t, True) for t, _ in self.load(other, stack + (path,)) if t[0].raw not in IDENTITY]
            except Bad as e:
                if e.where[0] != other:
                    raise
                self.error(s[1].at(), "%s: %s" % (s[1].raw, e.text))
        return out

    def compile(self, path):
        """The table, or None when there were errors."""
        self.table = t = pt.Table("", "")
        self.at_name = (path, 1, 1)
        self.named = self.encoder_set = False
        self.origin = {}       # (kind, name) -> (token, inherited)
        self.groups, self.default = {}, {}
        self.default_counters = None
        self.default_takes = ()
        self.rows = []         # (Row, inherited, token) or None where dropped
        self.names = {}        # folded -> (text, token, row number, inherited)
        self.waiting = []      # synonyms and unsupported names, resolved when all rows are known
        try:
            statements = self.load(path)
        except Bad as e:
            self.error(e.where, e.text)
            return None
        if not statements:
            self.error((path, 1, 1), "an empty file")
            return None
        if statements[0][0][0].raw != "pmu":
            self.error(statements[0][0][0].at(), "the first statement must be pmu")
        for rows in (False, True):
            for words, inherited in statements:
                self.inherited = inherited
                word = words[0]
                method = getattr(self, "do_" + word.raw, None) if NAME.fullmatch(word.raw) else None
                if not method:
                    if not rows:
                        self.error(word.at(), "unknown statement '%s'" % word.raw)
                elif (word.raw in ROW_STATEMENTS) == rows:
                    try:
                        method(words)
                    except Bad as e:
                        self.error(e.where, e.text)
            if not rows:
                self.finish_head()
        self.finish()
        return None if self.errors else t

    # ---- rows --------------------------------------------------------------------------------------------------

    def claim(self, text, token, row):
        """Enters a name; an inherited row of that name makes room, any other is an error."""
        folded = pt.fold(text)
        if not folded:
            raise Bad(token.at(), "an empty name")
        before = self.names.get(folded)
        if before and before[2] == row:
            return
        if before:
            raise Bad(token.at(), "'%s' is the same name as '%s' in line %d%s"
                      % (text, before[0], before[1].line, "" if before[1].file == token.file else
                         " of " + os.path.basename(before[1].file)))
        self.names[folded] = text, token, row, self.inherited

    def forget(self, row):
        self.rows[row] = None
        self.names = {k: v for k, v in self.names.items() if v[2] != row}

    def do_event(self, words):
        t = self.table
        if len(words) < 2:
            raise Bad(words[0].at(), "event needs a name")
        name = words[1].text()
        number = len(self.rows)
        before = self.names.get(pt.fold(name))
        if before and before[3] and not self.inherited and type(before[2]) is int:
            number = before[2]
            self.forget(number)
        else:
            self.rows.append(None)
        texts, values, flags, aliases, given = [], {}, 0, [], set()
        on, named, takes = None, 0, self.default_takes
        for w in words[2:]:
            try:
                if w.is_text():
                    texts.append(w)
                    continue
                key, value = w.pair()
                key, at, counter = key.partition("@")
                if value is None:
                    raise Bad(w.at(), "unknown word '%s'" % key)
                if (key, counter) in given:
                    raise Bad(w.at(), "'%s' is given twice" % w.raw.partition("=")[0])
                given.add((key, counter))
                where = pt.ANYWHERE
                if at:
                    bits = self.counter_set(Token(counter, *w.at(len(key) + 1)))
                    if bits & (bits - 1):
                        raise Bad(w.at(len(key) + 1), "one counter is needed here")
                    where = bits.bit_length() - 1
                if key in t.field_at or key not in ("on", "takes", "alias", "hidden", "shadowed", "flags"):
                    f = self.field_index(w, key)
                    values[f, where] = self.field_value(t.fields[f], value)
                    named |= 0 if where == pt.ANYWHERE else 1 << where
                elif at:
                    raise Bad(w.at(), "'%s' takes no counter" % key)
                elif key == "on":
                    on = self.counter_set(value)
                elif key == "takes":
                    takes = self.group_list(value)
                elif key == "alias":
                    aliases += value.split()
                elif key == "flags":
                    for part in value.split():
                        if part.raw not in pt.ROW_FLAGS:
                            raise Bad(part.at(), "unknown flag '%s'" % part.raw)
                        flags |= pt.ROW_FLAGS[part.raw]
                elif value.number() > 1:
                    raise Bad(value.at(), "%s does not fit %s (0..1)" % (value.raw, key))
                elif value.number():
                    flags |= pt.ROW_FLAGS[key]
            except Bad as e:
                self.error(e.where, e.text)
        if not texts or not texts[0].text():
            self.error(words[1].at(), "missing description of event '%s'" % name)
        elif len(texts) > 2:
            self.error(texts[2].at(), "an event has a description and one longer text")
        elif len(texts) == 2:
            values[self.field_index(texts[1], "detail"), pt.ANYWHERE] = texts[1].text()
        counters = (on or 0) | named
        if on is None and not named:
            counters = t.all_counters() if self.default_counters is None else self.default_counters
        row = pt.Row(name, texts[0].text() if texts else "", counters,
                     [(f, c, v) for (f, c), v in values.items()], takes, flags, (), words[1])
        if not flags & pt.ROW_SHADOWED:
            self.claim(name, words[1], number)
            for a in aliases:
                try:
                    self.claim(a.text(), a, number)
                    row.aliases += (a.text(),)
                except Bad as e:
                    self.error(e.where, e.text)
        elif aliases:
            self.error(aliases[0].at(), "a shadowed event has no names")
        self.rows[number] = row

    def do_drop(self, words):
        if len(words) < 2:
            raise Bad(words[0].at(), "drop needs a name")

        def one(w):
            found = self.names.get(pt.fold(w.text()))
            if not found:
                raise Bad(w.at(), "nothing of the name '%s' to drop" % w.text())
            if type(found[2]) is int:
                self.forget(found[2])
            else:
                del self.names[pt.fold(w.text())]
                self.waiting = [x for x in self.waiting if x[1] is not found[1]]
        self.each(words[1:], one)

    def do_synonym(self, words):
        if len(words) != 3:
            raise Bad(words[-1].at(), "synonym takes a name and an event")
        self.claim(words[1].text(), words[1], words[1])
        self.waiting.append(("synonym", words[1], words[2]))

    def do_unsupported(self, words):
        if len(words) != 3 or not words[2].is_text() or not words[2].text():
            raise Bad(words[-1].at(), "unsupported takes a name and the reason as text")
        self.claim(words[1].text(), words[1], words[1])
        self.waiting.append(("unsupported", words[1], words[2]))

    def finish(self):
        t = self.table
        index = {}
        for i, row in enumerate(self.rows):
            if row:
                index[i] = len(t.rows)
                t.rows.append(row)
        for kind, name, what in self.waiting:
            if kind == "unsupported":
                t.unsupported.append((name.text(), what.text()))
                continue
            found = self.names.get(pt.fold(what.text()))
            if not found or type(found[2]) is not int:
                self.error(what.at(), "no event '%s'" % what.text())
            else:
                t.synonyms.append((name.text(), index.get(found[2], 0)))
        if not self.named:
            return
        if not self.encoder_set:
            self.error(self.at_name, "no encoder is given")
        if not t.rows and not self.errors:
            self.error(self.at_name, "a table without events")
        if not self.errors:
            for row, text in t.check():
                self.error(t.rows[row].where.at() if row is not None else self.at_name, text)


def compile_all(paths):
    """(tables, files read, errors)."""
    tables, files, errors = [], [], []
    taken = {}
    for path in paths:
        c = Compiler()
        table = c.compile(path)
        files += c.files
        errors += c.errors
        if not table:
            continue
        for name in [table.name] + table.aka:
            # A view's other names may be those of a processor with its own table: that one wins when looked up.
            if name in taken and (name == table.name or not (table.flags | taken[name][1]) & pt.TABLE_VIEW):
                errors.append((c.at_name, "the name '%s' belongs to %s already" % (name, taken[name][0])))
            taken.setdefault(name, (path, table.flags))
        tables.append(table)
    seen = set()
    unique = [e for e in errors if not (e in seen or seen.add(e))]
    return tables, sorted(set(files)), unique
