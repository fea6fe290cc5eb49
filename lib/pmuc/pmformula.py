# SPDX-License-Identifier: MIT
"""Formulas of metrics: what is written becomes a small postfix form that the library evaluates.

Two grammars are published, Intel's (letters that stand for events) and perf's (names, with backslashes before what perf
would take for an operator), and .pmu files have one of their own that both are turned into. All three are read by the
one parser below; they differ in how a name looks and in who says what it means. Loosest to tightest:

    A if C else B     | ||     ^     & &&     < > <= >= == = !=     + -     * / %     - (sign)     names, numbers, f(...)

The result is a graph in which equal parts are one node, printed as postfix code: characters from a set that needs no
quoting anywhere. lib/metric/evaluate.c has the same list of instructions.

Formulas come with vendors' lists and are not trusted: length, depth, numbers and the size of the code are bounded, and
what cannot be represented is Refused with the reason.
"""

import contextlib
import math
import re
import struct

from pmread import MAX_FORMULA, Refused

MAX_DEPTH = 100         # of parentheses, signs and conditions
MAX_TOKENS = 60000
MAX_NODES = 20000
MAX_CODE = 16000        # characters of code
MAX_INPUTS = 256        # events and constants of one metric
MAX_STACK = 64          # of the machine that evaluates, lib/metric/code.h has these two as well
MAX_SLOTS = 256
MAX_NUMBER = 64         # characters of a number

# instruction -> (character, operands)
OPS = {"+": ("+", 2), "-": ("-", 2), "*": ("*", 2), "/": ("/", 2), "%": ("%", 2), "<": ("<", 2), ">": (">", 2),
       "<=": ("[", 2), ">=": ("]", 2), "==": ("=", 2), "!=": ("!", 2), "&": ("&", 2), "|": ("|", 2), "^": ("^", 2),
       "min": ("m", 2), "max": ("M", 2), "d_ratio": ("d", 2), "neg": ("~", 1), "if": ("?", 3)}
FUNCTIONS = {"min": 2, "max": 2, "d_ratio": 2}
NAMED = ("source_count", "has_event", "strcmp_cpuid_str")    # their argument is a name, not a value
LEVELS = (("|", "||"), ("^",), ("&", "&&"), ("<", ">", "<=", ">=", "==", "=", "!="), ("+", "-"), ("*", "/", "%"))
BINDS = {op: level for level, ops in enumerate(LEVELS) for op in ops}
SAME = {"||": "|", "&&": "&", "=": "=="}

NUMBER = r"(?P<number>0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
OPERATOR = r"(?P<op><\s*=|>\s*=|==|!=|&&|\|\||[-+*/%<>=()&|^,])"
NAMES = {
    "intel": r"(?P<name>#?[A-Za-z_][A-Za-z0-9_]*(?:\[0\])?)",
    "perf": r"(?P<name>#?[A-Za-z_\\](?:\\.|[A-Za-z0-9_.:@?])*)",
    "own": r"(?P<name>'[^']*'|#?[A-Za-z_][A-Za-z0-9_.@]*(?:::?[A-Za-z0-9_.]+(?:=[A-Za-z0-9_]+)?)*)",
}
TOKEN = {k: re.compile(r"\s*(?:%s|%s|%s)" % (v, NUMBER, OPERATOR)) for k, v in NAMES.items()}
PLAIN = re.compile(NAMES["own"].replace("'[^']*'|", ""))


class Graph:
    """Expressions in which equal parts exist once. A node is a number; operands come before what uses them."""

    def __init__(self):
        self.nodes = []
        self.known = {}

    def node(self, *what):
        at = self.known.get(what)
        if at is None:
            if len(self.nodes) >= MAX_NODES:
                raise Refused("Formula", "more than %d different parts" % MAX_NODES)
            at = self.known[what] = len(self.nodes)
            self.nodes.append(what)
        return at

    def number(self, value):
        return self.node("number", struct.pack(">d", value))


@contextlib.contextmanager
def bounded():
    """Chains of thousands of terms reach Python's own limit before any of ours."""
    try:
        yield
    except RecursionError:
        raise Refused("Formula", "nested too deeply") from None


# ---- text to graph ---------------------------------------------------------------------------------------------------

def tokens(text, grammar):
    """[(kind, text)] of a formula."""
    if len(text) > MAX_FORMULA:
        raise Refused("Formula", "more than %d characters" % MAX_FORMULA)
    pattern, at, out = TOKEN[grammar], 0, []
    text = text.rstrip()
    while at < len(text):
        m = pattern.match(text, at)
        if not m:
            raise Refused("Formula", "'%s' at character %d is not understood" % (text[at:].lstrip()[:20], at))
        if len(out) >= MAX_TOKENS:
            raise Refused("Formula", "more than %d words" % MAX_TOKENS)
        word = m[m.lastgroup]
        out.append((m.lastgroup, "".join(word.split()) if m.lastgroup == "op" else word))
        at = m.end()
    return out


def number(text):
    if len(text) > MAX_NUMBER:
        raise Refused("Formula", "a number of %d characters" % len(text))
    value = float(int(text, 16)) if text[:2].lower() == "0x" else float(text)
    if not math.isfinite(value):
        raise Refused("Formula", "the number %s is too large" % text)
    return value


class Parser:
    """One formula. @leaf(name) gives the node a name stands for, @named(function, name) that of a function of a name."""

    def __init__(self, graph, text, grammar, leaf, named):
        self.g, self.leaf, self.named, self.grammar = graph, leaf, named, grammar
        self.tokens, self.at, self.depth = tokens(text, grammar), 0, 0

    def whole(self):
        result = self.condition()
        if self.at < len(self.tokens):
            raise Refused("Formula", "'%s' is left over at the end" % self.tokens[self.at][1][:40])
        return result

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "the end")

    def take(self, text):
        if self.peek()[1] != text or self.peek()[0] == "end":
            raise Refused("Formula", "'%s' is expected before %s" % (text, self.peek()[1][:40]))
        self.at += 1

    def deeper(self):
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Refused("Formula", "nested more than %d deep" % MAX_DEPTH)

    def condition(self):
        self.deeper()
        value = self.binary(0)
        if self.peek() == ("name", "if"):
            self.at += 1
            test = self.binary(0)
            self.take("else")
            value = self.g.node("if", test, value, self.condition())
        self.depth -= 1
        return value

    def binary(self, level):
        """Operators of this level and tighter ones."""
        left = self.sign()
        while self.peek()[0] == "op" and BINDS.get(self.peek()[1], -1) >= level:
            op = self.peek()[1]
            self.at += 1
            left = self.g.node(SAME.get(op, op), left, self.binary(BINDS[op] + 1))
        return left

    def sign(self):
        if self.peek() == ("op", "-"):
            self.at += 1
            self.deeper()
            value = self.g.node("neg", self.sign())
            self.depth -= 1
            return value
        return self.primary()

    def primary(self):
        kind, text = self.peek()
        if kind == "number":
            self.at += 1
            return self.g.number(number(text))
        if (kind, text) == ("op", "("):
            self.at += 1
            value = self.condition()
            self.take(")")
            return value
        if kind != "name" or text in ("if", "else"):
            raise Refused("Formula", "a value is expected before %s" % text[:40])
        self.at += 1
        if self.peek() == ("op", "("):
            return self.call(text)
        return self.leaf(self.plain(text))

    def call(self, function):
        self.at += 1
        if function in NAMED:
            kind, text = self.peek()
            if kind not in ("name", "number"):
                raise Refused("Formula", "%s takes a name" % function)
            self.at += 1
            self.take(")")
            return self.named(function, self.plain(text))
        if function not in FUNCTIONS:
            raise Refused("Formula", "no function '%s': min, max and d_ratio are known" % function[:40])
        args = [self.condition()]
        for _ in range(FUNCTIONS[function] - 1):
            self.take(",")
            args.append(self.condition())
        self.take(")")
        return self.g.node(function, *args)

    def plain(self, name):
        """A name without the marks its grammar needs: pmu@a\\=1@ is pmu/a=1/."""
        if self.grammar == "perf":
            name = re.sub(r"@([^@]*)@:?", r"/\1/", name)
            return re.sub(r"\\(.)", r"\1", name)
        return name[1:-1] if name.startswith("'") else name


# ---- graph to text ---------------------------------------------------------------------------------------------------

class Printer:
    """A graph in the grammar of .pmu files."""

    TIGHT = {"|": 1, "^": 2, "&": 3, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6, "neg": 7}

    def __init__(self, graph):
        self.g, self.size = graph, 0

    def text(self, at, outer=0):
        what = self.g.nodes[at]
        op = what[0]
        if op == "number":
            out = "%.17g" % struct.unpack(">d", what[1])
            short = "%g" % float(out)
            out = short if float(short) == float(out) else repr(float(out))
            own = 9
        elif op == "name":
            out, own = what[1] if PLAIN.fullmatch(what[1]) else "'%s'" % what[1], 9
        elif op in NAMED:
            out, own = "%s('%s')" % (op, what[1]), 9
        elif op in FUNCTIONS:
            out, own = "%s(%s)" % (op, ", ".join(self.text(a) for a in what[1:])), 9
        elif op == "if":
            out, own = "%s if %s else %s" % (self.text(what[2], 1), self.text(what[1], 1), self.text(what[3])), 0
        elif op == "neg":
            out, own = "-" + self.text(what[1], 7), 7
        else:
            own = self.TIGHT.get(op, 4)
            out = "%s %s %s" % (self.text(what[1], own), op, self.text(what[2], own + 1))
        self.size += len(out)
        if self.size > 64 * MAX_FORMULA or len(out) > MAX_FORMULA:
            raise Refused("Formula", "more than %d characters when written out" % MAX_FORMULA)
        return "(%s)" % out if own < outer else out


def rewrite(text, grammar, spell=None):
    """A formula of another grammar in that of .pmu files; @spell(name) says what its names are called there."""
    g = Graph()

    def leaf(name):
        name = spell(name) if spell else name
        try:
            return g.number(number(name)) if re.match(r"[0-9.]", name) else g.node("name", name)
        except ValueError:
            raise Refused("Formula", "'%s' is neither a number nor a name" % name[:40]) from None

    with bounded():
        at = Parser(g, text, grammar, leaf, lambda function, name: g.node(function, name)).whole()
        return Printer(g).text(at)


# ---- graph to code ---------------------------------------------------------------------------------------------------

def digits(value, n):
    return "".join(chr(0x30 + (value >> 6 * i & 63)) for i in reversed(range(n)))


def number_code(raw):
    value = struct.unpack(">d", raw)[0]
    if value == int(value) and 0 <= value < 4096 and not (value == 0 and raw[0]):
        return "i" + digits(int(value), 1) if value < 64 else "j" + digits(int(value), 2)
    return "k" + digits(int.from_bytes(raw, "big"), 11)


class Coder:
    """Nodes to code; what is used twice is computed once and kept in a slot."""

    def __init__(self, graph, inputs):
        self.g, self.inputs = graph, inputs

    def code(self, root):
        uses = self.count(root)
        self.out, self.slots, self.left = [], {}, dict(uses)
        depth = self.emit(root, uses)
        text = "".join(self.out)
        if depth > MAX_STACK or len(text) > MAX_CODE or len(self.slots) > MAX_SLOTS:
            raise Refused("Formula", "too large: %d characters of code, %d deep" % (len(text), depth))
        return text

    def count(self, root):
        """How often each node that is needed is used."""
        uses, todo = {root: 1}, [root]
        while todo:
            what = self.g.nodes[todo.pop()]
            if what[0] in ("number", "input", "value"):
                continue
            for a in what[1:]:
                if a not in uses:
                    todo.append(a)
                uses[a] = uses.get(a, 0) + 1
        return uses

    def emit(self, at, uses):
        """Appends the code of a node; returns how much stack it needs."""
        what = self.g.nodes[at]
        if what[0] == "number":
            self.out.append(number_code(what[1]))
            return 1
        if what[0] == "value":
            self.out.append("v")
            return 1
        if what[0] == "input":
            self.out.append("e" + digits(self.inputs.index_of(what[1]), 2))
            return 1
        if at in self.slots:
            self.out.append("l" + digits(self.slots[at], 2))
            return 1
        need = max(i + self.emit(a, uses) for i, a in enumerate(what[1:]))
        self.out.append(OPS[what[0]][0])
        if uses[at] > 1:
            self.slots[at] = len(self.slots)
            self.out.append("s" + digits(self.slots[at], 2))
        return need


class Inputs:
    """What a metric needs to be given, in the order its code counts: names, with the list's own spelling where it differs."""

    def __init__(self):
        self.names, self.at = [], {}

    def index_of(self, name):
        at = self.at.get(name)
        if at is None:
            if len(self.names) >= MAX_INPUTS:
                raise Refused("Formula", "more than %d events" % MAX_INPUTS)
            at = self.at[name] = len(self.names)
            self.names.append(name)
        return at
