# SPDX-License-Identifier: MIT
"""Makes sentences of the words for the parts of a name: attributes before a noun, clauses after it,
conjunctions, and slots of templates."""

import re

LIMIT = 200
LINKED = re.compile(r"(of|from|to|that|whose|in|into|by|at|for|with|without|on|while|beyond|because"
                    r"|between|after|before|when|as|and|or|through|over|under|within|until|per)\b")
PAST = re.compile(r"(served|sent|answered|kept|entered)\b")
PREPOSITION = re.compile(r" (of|in|for|to|from|by) ")
SLOT = re.compile(r"<(\w+)> ?")
HOLE = re.compile(r"\{(\w+)(?:\|([^}]*))?\}")
OPTION = re.compile(r"\[[^\]{]*\{(\w+)\}[^\]]*\]")
SUMMED = ", summed over cycles"
# The form of a word as the attribute of a noun after it: "loads", "misses" make "load misses".
ATTRIBUTES = {
    "instructions": "instruction", "branches": "branch", "loads": "load", "stores": "store",
    "uops": "uop", "requests": "request", "reads": "read", "writes": "write",
    "prefetches": "prefetch", "snoops": "snoop", "operations": "operation", "pages": "page",
    "page walks": "page walk", "accesses": "access", "fetches": "fetch",
    "transactions": "transaction", "interrupts": "interrupt", "exceptions": "exception",
    "lines": "line", "probes": "probe", "commands": "command", "victims": "victim",
    "misses": "miss", "threads": "thread", "entries": "entry", "bubbles": "bubble",
    "barriers": "barrier", "credits": "credit", "calls": "call", "returns": "return",
    "jumps": "jump", "locks": "lock", "hits": "hit", "responses": "response"
}
# Words that can be attributes unchanged.
ALWAYS = (
    "cache", "TLB", "data", "code", "memory", "bus", "queue", "buffer", "table", "unit", "vector",
    "floating-point", "integer", "system", "hardware", "software", "demand", "second-level TLB",
    "SSE", "SSE2", "AVX", "MMX", "x87", "scheduler", "pipeline", "interface", "controller", "DRAM",
    "register", "microcode", "dispatch", "division", "graphics", "renaming", "page directory",
    "error", "core", "uncacheable", "not cacheable", "cacheable", "near", "far", "direct",
    "indirect", "scalar", "packed", "clean", "dirty", "speculative", "misaligned", "exclusive",
    "external", "internal", "local", "large", "small", "partial", "total", "normal",
    "return stack", "processor"
)
# Nouns that take attributes.
HEADS = {
    *ATTRIBUTES, "stalls", "refills", "fills", "look-ups", "evictions", "writebacks", "flushes",
    "replacements", "aborts", "errors", "events", "cycles", "data", "cache", "TLB", "queue",
    "buffer", "bytes", "conflicts", "faults", "assists", "rejections", "retries", "turnarounds",
    "transfers", "ticks", "slots", "invalidations", "reloads", "restarts", "entries made",
    "references", "divisions", "multiplications", "prefetcher", "bits", "changes", "words",
    "packets", "walks"
}
# The form of a word before the noun that it describes.
BEFORE = {
    "retired": "retired~", "predicted wrongly": "mispredicted~", "predicted": "predicted~",
    "dispatched": "dispatched~", "executed": "executed~", "taken": "taken~",
    "not taken": "not-taken~", "conditional": "conditional~", "mispredicted": "mispredicted~"
}
# The form of a word after a noun that it describes.
AFTER = {
    "hits": "that hit", "misses": "that missed", "taken": "that are taken",
    "not taken": "that are not taken", "conditional": "that are conditional",
    "unconditional": "that are unconditional", "direct": "that are direct",
    "indirect": "that are indirect", "modified": "in modified state",
    "exclusive": "in exclusive state", "shared": "in shared state", "invalid": "in invalid state",
    "owned": "in owned state", "completed": "that completed", "started": "that started",
    "retired": "that retired", "executed": "that executed", "issued": "that were issued",
    "dispatched": "that were dispatched", "predicted wrongly": "that were mispredicted",
    "predicted": "that were predicted", "aborted": "that were aborted",
    "rejected": "that were rejected", "dropped": "that were dropped",
    "blocked": "that were blocked", "stalled": "that stalled", "pending": "that are pending",
    "outstanding": "that are outstanding", "scalar": "that are scalar",
    "packed": "that are packed", "full": "that is full", "empty": "that is empty",
    "busy": "that is busy", "single-precision": "in single precision",
    "double-precision": "in double precision", "all kinds": "of all kinds",
    "any kind": "of any kind", "all of them": "of all kinds",
    "across two lines": "across two lines", "data": "for data", "code": "for code",
    "loads": "for loads", "stores": "for stores", "reads": "for reads", "writes": "for writes",
    "prefetches": "for prefetches"
}


def join_words(parts):
    """Joins words of the glossary with commas. A clause ("of cores", "that missed") needs no comma;
    a sum over cycles is the last part."""
    text, glue, end = "", "", ""
    for p in parts:
        p = SLOT.sub("", p)
        if SUMMED in p:
            p, end = p.replace(SUMMED, ""), SUMMED
        if p == "cycles" and "cycles" in text.lower():
            continue
        if p.startswith("+"):
            p, glue = p[1:], " " if text else ""
        elif (glue and re.match(r"that (are|were) ", p)
              and re.search(r" that (are|were) [\w ]+$", text)):
            glue, p = " and ", p.split(" ", 2)[2]
        elif glue and p.startswith("that ") and " that " in text:
            glue = " and "
        elif glue and PAST.match(p):
            glue = " and were " if " that " in " " + text else " "
        elif glue and LINKED.match(p):
            glue = " "
        elif p.startswith(","):
            glue = ""
        text += glue + p.strip("~ ")
        glue = " " if p.endswith("~") else ", "
    return text + end


def is_attribute(p):
    """True if part @p can come before the noun that follows."""
    return (p in ATTRIBUTES or p in ALWAYS
            or p.endswith((" cache", " TLB", " queue", " buffer", " unit"))
            and not PREPOSITION.search(p))


def order_parts(parts, follows):
    """Orders parts as in English: attributes before their nouns, clauses after them. @follows: a
    noun precedes the parts."""
    if not follows and len(parts) > 1 and parts[-1] == "cycles":
        parts = ["cycles of~"] + parts[:-1]
    out = []
    # L1D_CACHE: no second "cache"
    parts = [p for i, p in enumerate(parts) if not i or parts[i - 1].split(" ")[-1] != p]
    for i, p in enumerate(parts):
        after = parts[i + 1] if i + 1 < len(parts) else ""
        noun = follows or any(not x.endswith("~") for x in out)
        if not noun and after and p in BEFORE:
            p = BEFORE[p]
        if after in HEADS and is_attribute(p):
            p = ATTRIBUTES.get(p, p) + "~"
        elif noun and not (out and out[-1].endswith("~")):
            p = AFTER.get(p.rstrip("~"), p)
        out.append(p)
    return out


def fill_template(template, parts):
    """Fills the slots of a template. "[...]" is dropped if its slot is empty; parts without a slot
    are appended."""
    slots = {"rest": []}
    for p in parts:
        marks = SLOT.split(p)           # words before any mark, then pairs of a slot and its words
        for name, said in zip(["rest"] + marks[1::2], marks[::2]):
            if said.strip():
                slot = name if "{" + name in template else "rest"
                slots.setdefault(slot, []).append(said.strip())

    def fill_slot(m):
        """Returns the parts of a slot, or its default text."""
        return join_words(slots.pop(m[1], [])) or m[2] or ""
    text = OPTION.sub(lambda m: m[0][1:-1] if slots.get(m[1]) else "", template)
    text = HOLE.sub(fill_slot, text)
    rest = join_words([p for kept in slots.values() for p in kept])
    if rest:
        text += (" " if LINKED.match(rest) else ", ") + rest
    return re.sub(r" +(?=[,;:)]|$)", "", re.sub(r" {2,}", " ", text)).strip(" ,")


def make_sentence(text):
    """Makes a sentence of a phrase, at most LIMIT characters long."""
    text = text.strip().rstrip(".,:;").replace(") (", "; ")
    if len(text) >= LIMIT:
        text = text[:LIMIT - 1].rsplit(",", 1)[0]
    return text[:1].upper() + text[1:] + "."
