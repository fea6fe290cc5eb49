#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Describes the public interface as JSON: bindings/api.json, from which the raw layers of bindings
are generated.

    scripts/api.py            prints the description
    scripts/api.py -w         writes it to bindings/api.json
    scripts/api.py --check    fails unless bindings/api.json is what the headers say

The headers are read as python/build_cffi.py reads them; a C program that is compiled and run gives
sizes, offsets and values. Needs a C compiler and pycparser.
"""
import functools
import json
import os
import re
import subprocess
import sys
import tempfile

import pycparser
from pycparser import c_ast, c_generator

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "python"))
import build_cffi  # noqa: E402

HEADERS = os.path.join(TOP, "include", "perfmon")
OUTPUT = os.path.join(TOP, "bindings", "api.json")
STANDARD = """typedef unsigned long size_t; typedef long ssize_t;
typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t;
typedef unsigned short uint16_t; typedef int int32_t; typedef unsigned int uint32_t;
typedef long int64_t; typedef unsigned long uint64_t; typedef int pid_t; typedef int clockid_t;
"""
ABOUT = (
    "The public interface of libperfmon, written by scripts/api.py from the headers. Sizes and "
    "offsets are those of 64-bit Linux. A struct with sized=true starts with its size and can "
    "grow at its end; one with frozen=true never changes; enumerations can get more values. "
    "ownership: 'caller' is released with the function in release; 'borrowed' belongs to the "
    "context, plan, session or library; 'consumed' may not be used after the call.")

# ---- the text of a header ------------------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def blank(text):
    """@text with comments as blanks of the same length."""
    return re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def sentence(comment):
    """The words of a comment without its decoration: one line for each paragraph, parameter and row
    of a list."""
    lines = re.sub(r"^/\*+<?\s*|\s*\*/$", "", comment.strip()).splitlines()
    out = [""]
    for line in (re.sub(r"^\s*\* ?", "", line).rstrip() for line in lines):
        is_continued = out[-1] and (line.startswith("   ") if out[-1][0] in "@ "
                                    else line and line[0] not in "@ ")
        if is_continued:
            out[-1] += " " + line.strip()
        elif not out[-1]:
            out[-1] = line
        else:
            out.append(line)
    return "\n".join(out).strip()


def comment_before(text, at):
    """The comment directly above the declaration that holds position @at; declarations without an
    empty line between them share one."""
    code = blank(text)
    start = max(code.rfind(mark, 0, at) for mark in ";{}") + 1
    head = text[start:at]
    found = re.findall(r"/\*(?!\*<| ----| SPDX).*?\*/", head, re.S)
    if found:
        return sentence(found[-1])
    above = text[:start].rstrip("\n")
    if start > 1 and code[start - 1] == ";" and "\n\n" not in head and "#" not in head:
        return comment_before(above, start - 2)
    return ""


def comment_of_member(text, body, name):
    """The comment after or above member @name between the two positions of @body."""
    code = blank(text)
    found = re.compile(r"\b%s\b\s*(\[[^\]]*\]\s*)*(=[^,}]*)?[;,\n}:)]" % re.escape(name)).search(
        code, *body)
    if not found:
        return ""
    after = re.compile(r"%s\s*(\[[^\]]*\]\s*)*(=[^,}/]*)?[;,]?\s*/\*\*<.*?\*/" % re.escape(name),
                       re.S).match(text, found.start())
    if not after:  # several names of a line share the comment after the last of them
        end = max(code.find(";", found.start(), body[1]), found.start())
        after = re.compile(r";[ \t]*/\*\*<.*?\*/", re.S).match(text, end)
    if after:
        return sentence(after[0][after[0].index("/*"):])
    start = max([body[0] - 1] + [code.rfind(mark, body[0], found.start()) for mark in ";{,"]) + 1
    above = re.findall(r"/\*\*(?!<).*?\*/", text[start:found.start()], re.S)
    return sentence(above[-1]) if above else ""


class Texts:
    """The headers, searched for declarations and their comments."""

    def __init__(self):
        self.texts = {}
        for name in sorted(os.listdir(HEADERS)):
            if name.endswith(".h"):
                with open(os.path.join(HEADERS, name), encoding="utf-8") as f:
                    self.texts[name] = f.read()

    def find(self, pattern):
        for name, text in self.texts.items():
            found = re.compile(pattern, re.M).search(blank(text))
            if found:
                return name, text, found
        raise KeyError(pattern)

    def function(self, name):
        header, text, found = self.find(r"^(?![#\t ])[^\n#=]*\b%s\s*\((?!\()" % name)
        return header, comment_before(text, found.end() - 1)

    def type(self, name, tag):
        """Header, comment, text and body of a struct or an enumeration."""
        header, text, found = self.find(
            r"\}\s*%s\s*;|\b(struct|union|enum) %s\s*\{" % (name, tag or "-"))
        end = found.start() if found[0][0] == "}" else self.closing(text, found.end())
        start, depth = end, 1
        code = blank(text)
        while depth:
            start -= 1
            depth += {"}": 1, "{": -1}.get(code[start], 0)
        return header, comment_before(text, start), text, (start + 1, end + 1)

    @staticmethod
    def closing(text, at):
        depth, code = 1, blank(text)
        while depth:
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            at += 1
        return at - 1

    def macro(self, name):
        header, text, found = self.find(r"^#define %s\b" % name)
        line = text[found.start():text.index("\n", found.start())]
        comment = re.search(r"/\*.*\*/", line)
        return header, sentence(comment[0]) if comment else ""


# ---- declarations --------------------------------------------------------------------------------


def describe_type(node):
    """@node as the C text of a type, with array bounds and function pointers apart."""
    out = {}
    while isinstance(node, c_ast.ArrayDecl):
        out.setdefault("array", []).append(node.dim)
        node = node.type
    if isinstance(node, c_ast.PtrDecl) and isinstance(node.type, c_ast.FuncDecl):
        out["type"] = "callback"
        out["returns"] = describe_type(node.type.type)["type"]
        out["parameters"] = describe_parameters(node.type)
        return out
    pointed = node
    stars = []
    while isinstance(pointed, (c_ast.PtrDecl, c_ast.ArrayDecl)):
        if isinstance(pointed, c_ast.ArrayDecl):  # a pointer to rows of characters
            out["row"] = int(pointed.dim.value, 0)
        else:
            stars.insert(0, "*" + "".join(q for q in pointed.quals))
        pointed = pointed.type
    inner = pointed.type
    if isinstance(inner, c_ast.IdentifierType):
        base = " ".join(inner.names)
    elif isinstance(inner, c_ast.Enum):
        base = "enum " + inner.name
    elif inner.name:
        base = ("union " if isinstance(inner, c_ast.Union) else "struct ") + inner.name
    else:
        base = "anonymous"
    const = "const " if "const" in pointed.quals else ""
    out["type"] = (const + base + (" " + "".join(stars) if stars else "")).replace("unsigned int",
                                                                                   "unsigned")
    return out


def describe_parameters(function):
    out = []
    for p in function.args.params if function.args else []:
        described = describe_type(p.type)
        if described["type"] == "void" or isinstance(p, c_ast.EllipsisParam):
            continue
        if described.pop("array", None):
            described["type"] += " *"
        out.append({"name": p.name or "", **described})
    return out


class Members(c_ast.NodeVisitor):
    """Names of members, those of anonymous structs and unions inside included."""

    def __init__(self, struct):
        self.found = []
        for d in struct.decls or []:
            inner = d.type
            if d.name is None and isinstance(inner, (c_ast.Struct, c_ast.Union)):
                self.found += Members(inner).found
            elif d.bitsize is None:
                self.found.append(d)


def handle_of(c_type):
    return c_type.replace("const ", "").replace("*const", "*").rstrip(" *")


def add_ownership(functions):
    """The owner of each object: a handle belongs to the caller if a pfm_close_ function takes it."""
    close = {handle_of(f["parameters"][0]["type"]): f["name"] for f in functions
             if f["name"].startswith("pfm_close_")}
    close["pfm_region_visit_t"] = "pfm_leave_region"
    for function in functions:
        if "*" in function["returns"]:
            handle = handle_of(function["returns"])
            function["ownership"] = "caller" if handle in close else "borrowed"
            if handle in close:
                function["release"] = close[handle]
        for p in function["parameters"]:
            handle, stars = handle_of(p["type"]), p["type"].count("*")
            if function["name"] in close.values() and stars:
                p["ownership"] = "consumed"
            elif p["type"] == "char **":
                p.update(ownership="caller", release="free")
            elif p["type"] == "const char **":
                p["ownership"] = "borrowed"
            elif stars == 2 and p["name"] == "out" and handle in close:
                p.update(ownership="caller", release=close[handle])


def describe_function(decl, texts, is_inline):
    header, doc = texts.function(decl.name)
    since = re.search(r"Since (\d+\.\d+)", doc)
    out = {"name": decl.name, "header": header,
           "library": "perfmon-profile" if header == "profile.h" else "perfmon",
           "returns": describe_type(decl.type.type)["type"],
           "parameters": describe_parameters(decl.type),
           "errors": list(dict.fromkeys(re.findall(r"PFMLIB_ERR_\w+", doc))),
           "since": since[1] if since else "1.0"}
    if is_inline:
        out["inline"] = True
    out["doc"] = doc
    return out


# ---- values of the compiler ----------------------------------------------------------------------


def ask_compiler(expressions):
    """The values of C expressions, by a program that prints them."""
    source = '#include <stdio.h>\n#include <stddef.h>\n' + "".join(
        f"#include <perfmon/{n}>\n" for n in sorted(os.listdir(HEADERS)) if n.endswith(".h"))
    source += "int main(void)\n{\n" + "".join(
        f'\tprintf("%lld\\n", (long long)({e}));\n' for e in expressions) + "\treturn 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "values")
        subprocess.run([*os.environ.get("CC", "cc").split(), "-w", "-x", "c", "-", "-I",
                        os.path.join(TOP, "include"), "-o", program],
                       input=source, text=True, check=True)
        out = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [int(line) for line in out.split()]


class Values:
    """Collects expressions, and fills what asked for them when all are known."""

    def __init__(self):
        self.asked = []

    def ask(self, where, key, expression):
        where[key] = None
        self.asked.append((where, key, expression))

    def answer(self):
        for (where, key, _), value in zip(self.asked, ask_compiler([a[2] for a in self.asked])):
            where[key] = value


def type_members(struct, name, text, body, values):
    out = []
    for d in Members(struct).found:
        member = {"name": d.name, **describe_type(d.type)}
        values.ask(member, "offset", f"offsetof({name}, {d.name})")
        values.ask(member, "size", f"sizeof((({name} *)0)->{d.name})")
        dims = member.pop("array", None)
        if dims:
            member["array"] = [0] * len(dims)
            for i, dim in enumerate(dims):
                values.ask(member["array"], i, c_generator.CGenerator().visit(dim))
        member["doc"] = comment_of_member(text, body, d.name)
        out.append(member)
    return out


def describe_struct(name, struct, texts, values):
    header, doc, text, body = texts.type(name, struct.name)
    c_name = name if name != struct.name else f"struct {name}"
    out = {"name": name, "header": header, "tag": struct.name}
    if isinstance(struct, c_ast.Union):
        out["union"] = True
    values.ask(out, "size", f"sizeof({c_name})")
    values.ask(out, "align", f"_Alignof({c_name})")
    members = type_members(struct, c_name, text, body, values)
    out["sized"] = bool(members) and members[0]["name"] == "size" and \
        members[0]["type"] == "size_t"
    if "Frozen" in doc:
        out["frozen"] = True
    out.update(members=members, doc=doc)
    return out


def describe_enum(name, enum, texts, values):
    header, doc, text, body = texts.type(name, enum.name)
    out = {"name": name, "header": header, "values": [], "doc": doc}
    for item in enum.values.enumerators:
        value = {"name": item.name}
        values.ask(value, "value", item.name)
        value["doc"] = comment_of_member(text, body, item.name)
        out["values"].append(value)
    return out


class Interface(c_ast.NodeVisitor):
    def __init__(self, texts, inlines):
        self.texts, self.inlines, self.values = texts, inlines, Values()
        self.api = {key: [] for key in ("constants", "enums", "structs", "callbacks", "functions",
                                        "variables")}
        self.tags = {}

    def collect_tags(self, tree):
        for node in tree.ext:
            inner = getattr(node, "type", None)
            inner = getattr(inner, "type", inner)
            if isinstance(inner, (c_ast.Struct, c_ast.Union)) and inner.name and inner.decls:
                self.tags[inner.name] = inner

    def add_typedef(self, node):
        if isinstance(node.type, c_ast.PtrDecl) and isinstance(node.type.type, c_ast.FuncDecl):
            header, text, found = self.texts.find(r"\(\*%s\)" % node.name)
            self.api["callbacks"].append({
                "name": node.name, "header": header, **describe_type(node.type),
                "doc": comment_before(text, found.start())})
            return
        inner = node.type.type if isinstance(node.type, c_ast.TypeDecl) else None
        if isinstance(inner, c_ast.Enum):
            self.api["enums"].append(describe_enum(node.name, inner, self.texts, self.values))
        elif isinstance(inner, (c_ast.Struct, c_ast.Union)):
            if inner.decls is None and inner.name in self.tags:
                inner = self.tags[inner.name]
            if inner.decls is None:
                header, text, found = self.texts.find(r"typedef struct \w+ %s;" % node.name)
                self.api["structs"].append({"name": node.name, "header": header, "opaque": True,
                                            "doc": comment_before(text, found.end() - 2)})
            else:
                self.api["structs"].append(describe_struct(node.name, inner, self.texts,
                                                           self.values))

    def add_declaration(self, node):
        if isinstance(node.type, c_ast.FuncDecl):
            if not any(f["name"] == node.name for f in self.api["functions"]):
                self.api["functions"].append(
                    describe_function(node, self.texts, node.name in self.inlines))
        elif isinstance(node.type, c_ast.TypeDecl) and "extern" in node.storage:
            header, text, found = self.texts.find(r"extern [^;]*\b%s;" % node.name)
            self.api["variables"].append({
                "name": node.name, "header": header, **describe_type(node.type),
                "doc": comment_before(text, found.end() - 1)})
        elif isinstance(node.type, c_ast.TypeDecl) and "static" in node.storage:
            header, text, found = self.texts.find(r"static const [^;]*\b%s =" % node.name)
            constant = {"name": node.name, "header": header}
            self.values.ask(constant, "value", node.name)
            constant.update(type=describe_type(node.type)["type"],
                            doc=comment_before(text, found.end()))
            self.api["constants"].append(constant)

    def add_constants(self, macros):
        for name in macros:
            header, doc = self.texts.macro(name)
            constant = {"name": name, "header": header}
            self.values.ask(constant, "value", name)
            constant["doc"] = doc
            self.api["constants"].append(constant)


def read_headers():
    """The declarations of include/perfmon for pycparser, the names of integer macros, and those of
    inline functions."""
    compiler = [*os.environ.get("CC", "cc").split()]
    includes = "".join(f"#include <perfmon/{n}>\n"
                       for n in sorted(os.listdir(HEADERS)) if n.endswith(".h"))
    text = subprocess.run([*compiler, "-E", "-dD", "-I", os.path.join(TOP, "include"), "-x", "c",
                           "-"], input=includes, text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    lines, _ = build_cffi.ours(text, os.path.join(TOP, "include"), os.path.join(TOP, "tools"))
    macros, code = [], []
    for line in lines:
        macro = re.match(r"#define (\w+)(\(?)\s*(.*)", line)
        if macro and not macro[2] and build_cffi.is_number(macro[1], macro[3]):
            macros.append(macro[1])
        elif not line.startswith("#"):
            code.append(line)
    code = "\n".join(code)
    inlines = set(re.findall(r"static inline[^;{}(]*?(\w+)\s*\(", code))
    code = build_cffi.without_types(build_cffi.without_bodies(code), build_cffi.LEFT_OUT)
    code = re.sub(r"__attribute__\s*\(\(.*?\)\)|__extension__|extern \"C\" \{", "", code)
    return code, list(dict.fromkeys(macros)), inlines


def describe():
    code, macros, inlines = read_headers()
    tree = pycparser.CParser().parse(STANDARD + code)
    interface = Interface(Texts(), inlines)
    interface.collect_tags(tree)
    standard = set(re.findall(r"(\w+);", STANDARD))
    for node in tree.ext:
        if isinstance(node, c_ast.Typedef) and node.name not in standard:
            interface.add_typedef(node)
        elif isinstance(node, c_ast.Decl) and node.name:
            interface.add_declaration(node)
    interface.add_constants(macros)
    add_ownership(interface.api["functions"])
    interface.values.answer()
    with open(os.path.join(TOP, "meson.build"), encoding="utf-8") as f:
        version = re.search(r"version: '([^']*)'", f.read())[1]
    return {"about": ABOUT, "version": version, **interface.api}


def one_line_each(api):
    """JSON with one line for each declaration, so that changes can be read."""
    parts = []
    for key, value in api.items():
        if isinstance(value, list):
            items = ",\n".join("  " + json.dumps(v) for v in value)
            parts.append(f" {json.dumps(key)}: [\n{items}\n ]")
        else:
            parts.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(arguments):
    text = one_line_each(describe())
    if arguments == ["-w"]:
        os.makedirs(os.path.dirname(OUTPUT), exist_ok=True)
        with open(OUTPUT, "w", encoding="utf-8") as f:
            f.write(text)
    elif arguments == ["--check"]:
        with open(OUTPUT, encoding="utf-8") as f:
            if f.read() != text:
                sys.exit("bindings/api.json differs from the headers: run scripts/api.py -w")
    elif arguments:
        sys.exit("usage: scripts/api.py [-w | --check]")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
