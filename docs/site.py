#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Renders the manual pages to a site that works from disk, without a network.

    site.py --out FOLDER [--mandoc PROGRAM] [--style FILE] [--script FILE] [--version V] [--pfm
    PROGRAM] [--guide FOLDER] PAGE...

mandoc does the text; this program does the frame: an index, a table of contents and links that lead
to our own pages, and on pages of processors a filter box over their events. Style and script are
written into each page, so that a page is one file. With --pfm, the command, events.html is made as
well: all events of all processors (events.py). With --guide, the chapters of the guide become
pages, by Python's Markdown (Debian: python3-markdown). If FOLDER/encode has the page of the encoder
(bindings/js/page/page.py), all pages link to it.
"""

import argparse
import concurrent.futures
import html
import os
import re
import shutil
import subprocess
import sys

import events

try:
    import markdown
except ImportError:
    markdown = None

HERE = os.path.dirname(os.path.abspath(__file__))

# The index: (heading, what belongs there). The first that fits takes a page.
SHELVES = (
    ("Start here", lambda p: p.file in ("perfmon.7", "pfm.1")),
    ("Contexts, events and sessions", lambda p: "perfmon/perfmon.h" in p.headers),
    ("File formats", lambda p: p.section == "5"),
    ("Generic processors", lambda p: p.processor and not p.founding()),
    ("Founding families", lambda p: p.founding()),
    ("Interface of libpfm 3", lambda p: "perfmon/pfmlib.h" in p.headers),
    ("Functions for Montecito", lambda p: p.name.startswith("pfm_mont")),
    ("Functions for Alpha", lambda p: p.name.startswith("pfm_alpha")),
    ("Other pages", lambda p: True),
)
CARDS = ("Start here",)
FOUNDING = re.compile(r"perfmon_(alpha|coreduo|montecito)|libpfm_|pfm_device$")
# Vendors by the first word of a processor's description; the order is that of the index.
VENDORS = (("Intel", r"Intel|Itanium"), ("AMD", r"AMD"), ("Arm", r"Arm|Cortex-|Neoverse"),
           ("Apple", r"Apple"), ("Ampere", r"Ampere"), ("NVIDIA", r"NVIDIA"),
           ("Qualcomm", r"Qualcomm|Oryon|Kryo|Krait|Scorpion|Falkor"), ("Fujitsu", r"Fujitsu"),
           ("HiSilicon", r"HiSilicon"), ("IBM", r"IBM|POWER"),
           ("RISC-V", r"RISC-V|SiFive|T-Head|SpacemiT|CVA6|OpenHW|StarFive|Andes"), ("NXP", r"NXP"),
           ("Sun", r"Sun"), ("MIPS and Loongson",
                             r"MIPS|Loongson"), ("Alpha", r"Alpha"), ("Linux", r"Generic|Software"))


def vendor(desc):
    return next((name for name, words in VENDORS if re.match(words, desc)), "Others")


def families(pmus):
    """Vendor -> family -> processors. Boxes outside the cores belong to their processor; processors
    whose names begin alike and that one description names are a family."""
    found = {}
    for name, pmu in pmus.items():
        if events.owner(name, pmus) == name:
            family = re.split(r" \(|, ", pmu["desc"])[0]
            if family == vendor(family):    # "Intel, energy meters" is of no family
                family = pmu["desc"]
            found.setdefault(vendor(pmu["desc"]), {}).setdefault(family, []).append(name)
    order = [name for name, _ in VENDORS] + ["Others"]
    return sorted(found.items(), key=lambda item: order.index(item[0]))


class Page:
    def __init__(self, path):
        self.path, self.file = path, os.path.basename(path)
        self.name, self.section = self.file.rsplit(".", 1)
        with open(path, encoding="utf-8") as f:
            self.source = f.read()
        head = re.search(r"^\.Sh NAME\n(.*?)^\.Nd ([^\n]*)", self.source, re.S | re.M)
        self.names = re.findall(r"^\.Nm (\S+)", head[1], re.M) if head else [self.name]
        self.what = re.sub(r"\\&|\\\(dq", "", head[2]).strip() if head else ""
        if not head:   # man(7) source
            head = re.search(r'^\.SH "?NAME"?\n(.*?)\\?- ([^\n]*)', self.source, re.S | re.M)
            self.what = head[2] if head else ""
        self.processor = self.section == "7" and self.name.startswith("perfmon_")
        synopsis = re.search(r"^\.Sh SYNOPSIS\n(.*?)^\.Sh ", self.source, re.S | re.M)
        self.headers = re.findall(r"^\.In (\S+)", synopsis[1], re.M) if synopsis else []
        self.out = self.file + ".html"

    def title(self):
        return "%s(%s)" % (self.name, self.section)

    def founding(self):
        return bool(FOUNDING.match(self.name))


class Chapter:
    """A chapter of the guide: Markdown whose links to other chapters lead to their pages."""

    def __init__(self, path, lead):
        self.lead = lead
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"^<!--.*?-->\n", "", f.read())
        self.out = "guide-%s.html" % os.path.splitext(os.path.basename(path))[0]
        self.title = re.search(r"^# (.*)", text, re.M)[1]
        text = re.sub(r"\]\((?:\.\./guide/)?([\w-]+)\.md(#[\w-]+)?\)", r"](guide-\1.html\2)", text)
        body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"])
        self.body = re.sub(r'<a href="(?!guide-|#|https?:)[^"]*">(.*?)</a>', r"\1", body)

    def contents(self):
        found = re.findall(r'<h2 id="([^"]*)">(.*?)</h2>', self.body, re.S)
        return "<ul>%s</ul>" % "".join('<li><a href="#%s">%s</a></li>' % one for one in found)


def render(mandoc, page):
    done = subprocess.run([mandoc, "-T", "html", "-O", "fragment,man=%N.%S.html", page.path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode > 2 or not done.stdout:
        raise SystemExit("%s: %s" % (page.path, done.stderr))
    return done.stdout


def link(text, known):
    """References to names of our pages lead there; others become plain text."""
    def one(m):
        target = known.get(m[1])
        return '<a class="Xr" href="%s.html">%s</a>' % (
            target, m[2]) if target else '<span class="Xr">%s</span>' % m[2]
    return re.sub(r'<a class="Xr" href="([^"#]+)\.html">(.*?)</a>', one, text, flags=re.S)


def contents(text):
    """The headings as a nested list."""
    out, deep = [], False
    for level, ident, title in re.findall(
            r'<h([12]) class="S[hs]" id="([^"]*)">(?:<a[^>]*>)?(.*?)(?:</a>)?</h', text, re.S):
        title = re.sub(r"<[^>]*>", "", title)
        if level == "2" and not deep:
            out.append("<ul>")
        if level == "1" and deep:
            out.append("</ul>")
        deep = level == "2"
        out.append('<li><a href="#%s">%s</a></li>' %
                   (ident, title.capitalize() if title.isupper() else title))
    return "<ul>%s%s</ul>" % ("".join(out), "</ul>" if deep else "")


def mark_events(text):
    """Sections of events get anchors for each, and the place for the filter box."""
    def anchor(m):
        name = html.unescape(re.sub(r"<[^>]*>|&#x[0-9A-Fa-f]+;", "", m[2]))
        ident = "e-" + re.sub(r"[^A-Za-z0-9_.:+-]", "_", re.split(r"[\s\[]", name)[0])
        return '<dt id="%s">%s<a class="permalink" href="#%s"><code class="Li">%s</code></a>' % (
            html.escape(ident), m[1] or "", html.escape(ident), m[2])

    parts = re.split(r'(?=<section class="S[hs]">)', text)
    first = True
    for i, part in enumerate(parts):
        head = re.search(r'<h2 class="Ss" id="(Events|Further_Events)"', part)
        if not head:
            continue
        part = re.sub(
            (
                r'<dt(?: id="[^"]*")?>(?:<a class="permalink"[^>]*>)?()<code'
                r' class="Li">(.*?)</code>(?:</a>)?'
            ),
            anchor,
            part,
            flags=re.S,
        )
        part = part.replace(
            '<section class="Ss">',
            '<section class="Ss events"%s>' % (" data-fold" if head[1] != "Events" else ""), 1)
        if first:
            part = part.replace("</h2>", '</h2>\n<div data-filter="Filter events"></div>', 1)
            first = False
        parts[i] = part
    return "".join(parts)


class Site:
    def __init__(self, pages, options):
        self.pages, self.version, self.pmus = pages, options.version, {}
        self.chapters = read_guide(options.guide) if options.guide else []
        self.events = '<a href="events.html">All events</a>\n' if options.pfm else ""
        self.encoder = '<a href="encode/index.html">Encoder</a>\n' if os.path.exists(
            os.path.join(options.out, "encode/index.html")) else ""
        with open(options.style, encoding="utf-8") as f:
            self.style = f.read()
        with open(options.script, encoding="utf-8") as f:
            self.script = f.read()
        self.known = {"%s.%s" % (n, p.section): p.file for p in pages for n in p.names}

    def frame(self, title, here, toc, body, script):
        return "\n".join(
            ("<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             "<title>%s</title>" % html.escape(title), "<style>\n%s</style>" % self.style,
             "</head>",
             "<body>", '<header class="top"><a class="home" href="index.html">perfmon</a>',
             self.menu(), '<span class="here">%s</span></header>' % html.escape(here),
             '<div class="frame">', '<nav class="toc" aria-label="On this page">%s</nav>' % toc,
             "<main>", body, '<p class="foot">perfmon %s. MIT licence.</p>' %
             html.escape(self.version), "</main>", "</div>",
             "<script>\n%s</script>" % self.script if script else "", "</body>", "</html>", ""))

    def menu(self):
        wanted = (("perfmon.7", "Overview"), ("pfm.1", "Command"))
        files = {p.file for p in self.pages}
        guide = '<a href="index.html#Guide">Guide</a>\n' if self.chapters else ""
        processors = '<a href="index.html#Processors">Processors</a>\n' if self.events else ""
        pages = "\n".join('<a href="%s.html">%s</a>' % w for w in wanted if w[0] in files)
        return guide + processors + self.events + self.encoder + pages

    def chapter(self, chapter):
        return self.frame("%s - perfmon" % chapter.title, "guide", chapter.contents(), chapter.body,
                          False)

    def search(self):
        """The search over all events: a form that opens their page."""
        if not self.events:
            return ""
        return (
            '<form class="search" role="search"'
            ' onsubmit="location.href=\'events.html#/s/\'+encodeURIComponent(this.q.value);return'
            ' false"><label for="q">Search events of all processors</label><input id="q" name="q"'
            ' type="search" autocomplete="off" spellcheck="false" placeholder="spr l3 miss"></form>'
        )

    def guide(self):
        cards = "".join('<li><a href="%s">%s</a><p>%s</p></li>' %
                        (c.out, html.escape(c.title), html.escape(c.lead)) for c in self.chapters)
        return (
            '<section data-fold><h1 id="Guide">Guide</h1><ul class="cards">%s</ul></section>'
            % cards
            if self.chapters
            else ""
        )

    def processors(self):
        if not self.pmus:
            return ""
        out = []
        for name, kinds in families(self.pmus):
            lines = []
            for family, members in sorted(kinds.items()):
                links = " ".join('<a href="events.html#/p/%s">%s</a>' %
                                 (html.escape(m), html.escape(m)) for m in members)
                lines.append("<li>%s<span>%s</span></li>" % (links, html.escape(family)))
            out.append(
                '<section data-fold><h2 id="v-%s">%s</h2><ul class="list">%s</ul></section>' %
                (re.sub(r"\W+", "-", name), html.escape(name), "".join(lines)))
        return '<h1 id="Processors">Processors</h1>' + "".join(out)

    def page(self, page, text):
        text = re.sub(r'<table class="head">.*?</table>|<table class="foot">.*?</table>', "", text,
                      flags=re.S)
        # The name is the title; mandoc's NAME section would say it twice.
        text = re.sub(r'<section class="Sh">\s*<h1 class="Sh" id="NAME">.*?</section>', "", text,
                      count=1, flags=re.S)
        text = link(text, self.known)
        if page.processor:
            text = mark_events(text)
        title = '<h1 class="title">%s</h1>\n<p class="lead">%s</p>' % (html.escape(
            ", ".join(page.names) if len(page.names) < 5 else page.name), html.escape(page.what))
        return self.frame("%s - perfmon" % page.title(), page.title(), contents(text), title + text,
                          page.processor)

    def index(self):
        left, body, toc = list(self.pages), [], []
        for heading, fits in SHELVES:
            mine = [p for p in left if fits(p)]
            left = [p for p in left if p not in mine]
            if not mine:
                continue
            ident = re.sub(r"\W+", "-", heading)
            toc.append('<li><a href="#%s">%s</a></li>' % (ident, heading))
            body.append('<section data-fold><h1 id="%s">%s</h1><ul class="%s">%s</ul></section>' % (
                ident, heading, "cards" if heading in CARDS else "list",
                "".join("<li>%s</li>" % (self.card(p) if heading in CARDS else self.line(p))
                        for p in sorted(mine, key=lambda p: (p.section != "1", p.name)))))
        lead = (
            '<h1 class="title">perfmon</h1>\n<p class="lead">A library and a command that encode'
            ' hardware events, count them and sample them.</p>\n'
            + self.search()
            + '<div data-filter="Filter this page"></div>'
        )
        vendors = [
            '<li><a href="#v-%s">%s</a></li>' % (re.sub(r"\W+", "-", name), html.escape(name))
            for name, _ in families(self.pmus)
        ]
        entries = (['<li><a href="#Guide">Guide</a></li>'] if self.chapters else []) + toc[:1] + (
            ['<li><a href="#Processors">Processors</a><ul>%s</ul></li>' %
             "".join(vendors)] if vendors else []) + toc[1:]
        return self.frame("perfmon - manual", "version " + self.version,
                          "<ul>%s</ul>" % "".join(entries),
                          lead + self.guide() + body[0] + self.processors() + "\n".join(body[1:]),
                          True)

    @staticmethod
    def card(p):
        label = re.sub(r"^perfmon_", "", p.name) if p.processor else p.title()
        return '<a href="%s">%s</a><p>%s</p>' % (p.out, html.escape(label), html.escape(p.what))

    @staticmethod
    def line(p):
        return " ".join('<a href="%s">%s</a>' % (p.out, html.escape(n))
                        for n in p.names) + "<span>%s</span>" % html.escape(p.what)


def read_guide(folder):
    if not markdown:
        print("the guide is left out: install python3-markdown", file=sys.stderr)
        return []
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as f:
        listed = re.findall(r"^\| \[.*?\]\((.*?)\) \| (.*?) \|$", f.read(), re.M)
    return [Chapter(os.path.join(folder, name), lead) for name, lead in listed]


def main():
    parser = argparse.ArgumentParser(description="render manual pages to a site")
    parser.add_argument("--out", required=True)
    parser.add_argument("--mandoc", default="mandoc")
    parser.add_argument("--style", default=os.path.join(HERE, "site.css"))
    parser.add_argument("--script", default=os.path.join(HERE, "site.js"))
    parser.add_argument("--version", default="")
    parser.add_argument("--pfm")
    parser.add_argument("--guide")
    parser.add_argument("pages", nargs="+")
    a = parser.parse_args()
    pages = [Page(p) for p in a.pages]
    site = Site(pages, a)
    os.makedirs(a.out, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        texts = list(pool.map(lambda p: render(a.mandoc, p), pages))
    for page, text in zip(pages, texts):
        with open(os.path.join(a.out, page.out), "w", encoding="utf-8") as f:
            f.write(site.page(page, text))
    if a.pfm:
        site.pmus = events.build(a.pfm, a.out, a.style, os.path.join(HERE, "events.js"),
                                 a.version)[0]
    for chapter in site.chapters:
        with open(os.path.join(a.out, chapter.out), "w", encoding="utf-8") as f:
            f.write(site.chapter(chapter))
        for picture in re.findall(r'<img [^>]*src="([\w-]+\.svg)"', chapter.body):
            shutil.copy(os.path.join(a.guide, picture), a.out)
    with open(os.path.join(a.out, "index.html"), "w", encoding="utf-8") as f:
        f.write(site.index())
    print("%d pages: %s" % (len(pages) + len(site.chapters) + 1, os.path.join(a.out, "index.html")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
