# SPDX-License-Identifier: MIT
"""The page that looks through the events of all built-in processors: events.html, and its data in
events/.

    python3 events.py --pfm PROGRAM --out FOLDER [--style FILE] [--script FILE] [--version V]

The page works from disk, where a browser loads nothing but scripts: each data file is one that
hands over an object.
  events/index.js   processors: name, what it is, number of events, the processor it is a unit of
  events/all.js     every name with its description once, and which processors have it: what a
                    search and a family look through
  events/p/NAME.js  the events of a processor and of its units: name, description, event select,
                    counters, flags
"""
import argparse
import html
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ("deprecated", "experimental", "alone")


def listed(pfm):
    """Processors by name, and their events, of the library alone: no image, nothing of this
    machine."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("PERFMON_")}
    with tempfile.TemporaryDirectory() as nowhere:
        env.update(PERFMON_EVENTS=os.path.join(nowhere, "none"), PERFMON_SYSFS=nowhere)
        done = subprocess.run([pfm, "list", "--all", "--json"], env=env, stdout=subprocess.PIPE,
                              check=True)
    pmus, events = {}, {}
    for line in done.stdout.splitlines():
        o = json.loads(line)
        if "event" in o:
            events.setdefault(o["pmu"], []).append(o)
        elif "metric" not in o:
            pmus[o["pmu"]] = o
    return {n: p for n, p in pmus.items() if events.get(n) and p["origin"] == "built in"}, events


def owner(name, pmus):
    """The processor that a unit belongs to: icx_uncore_imc is one of icx."""
    parts = name.split("_")
    for i in range(len(parts) - 1, 0, -1):
        if "_".join(parts[:i]) in pmus:
            return owner("_".join(parts[:i]), pmus)
    return name


def counters(names):
    """["0", "1", "2", "F0"] as "0-2,F0"."""
    out = []
    for n in names:
        if out and n.isdigit() and out[-1][-1].isdigit() and int(n) == int(out[-1][-1]) + 1:
            out[-1][1:] = [n]
        else:
            out.append([n])
    return ",".join("-".join(r) for r in out)


def row(event, coded):
    """@coded: the processor has an event select; on Alphas it depends on the counter."""
    flags = "".join(f[0] for f in FLAGS if f in event["flags"])
    return [
        event["event"], event["desc"], event["code"] if coded else "",
        counters(map(str, event["counters"])), flags
    ]


def script(path, call, *values):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write("%s(%s);\n" % (call, ",".join(
            json.dumps(v, ensure_ascii=False, separators=(",", ":")) for v in values)))


def data(out, pmus, events):
    names = list(pmus)
    number = {n: i for i, n in enumerate(names)}
    owners = {n: owner(n, pmus) for n in names}
    script(os.path.join(out, "index.js"), "perfmon.index",
           [[n, p["desc"], len(events[n]), number[owners[n]],
             p.get("aka", "")] for n, p in pmus.items()])
    have = {}
    for n in names:
        for e in events[n]:
            have.setdefault((e["event"], e["desc"]), []).append(number[n])
    script(os.path.join(out, "all.js"), "perfmon.all",
           [[name, desc, where] for (name, desc), where in sorted(have.items())])
    for top in set(owners.values()):
        mine = {
            n: [row(e, any(int(o["code"], 16) for o in events[n])) for e in events[n]]
            for n in names if owners[n] == top
        }
        script(os.path.join(out, "p", top + ".js"), "perfmon.processor", top, mine)


def page(style, code, version, n_processors, n_events):
    with open(style, encoding="utf-8") as f:
        css = f.read()
    with open(code, encoding="utf-8") as f:
        js = f.read()
    return "\n".join(
        (
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<title>perfmon - events</title>",
            "<style>\n%s</style>" % css,
            "</head>",
            '<body class="wide">',
            '<a class="skip" href="#main">To the events</a>',
            (
                '<header class="top"><a class="home" href="index.html">perfmon</a> <a'
                ' href="#/">Events</a> <a href="#/compare">Compare</a>'
            ),
            '<span class="here">version %s</span></header>' % html.escape(version),
            '<main id="main" tabindex="-1">',
            '<form class="filter" role="search"><label for="search">Search %s events of %d'
            ' PMUs</label>' % (format(n_events, ","), n_processors),
            (
                '<input id="search" type="search" autocomplete="off" spellcheck="false"'
                ' placeholder="snoop hitm"></form>'
            ),
            (
                '<p class="hint">Searches names and descriptions; <kbd>/</kbd> returns to the'
                ' field. The name of a processor restricts the search to it.</p>'
            ),
            '<p id="status" role="status" aria-live="polite"></p>',
            '<div id="view"></div>',
            "<noscript>The events are shown by a script.</noscript>",
            "</main>",
            "<script>\n%s</script>" % js,
            '<script src="events/index.js" defer></script>',
            "</body>",
            "</html>",
            "",
        )
    )


def build(pfm, out, style, code, version):
    pmus, events = listed(pfm)
    n = sum(len(events[p]) for p in pmus)
    data(os.path.join(out, "events"), pmus, events)
    with open(os.path.join(out, "events.html"), "w", encoding="utf-8") as f:
        f.write(page(style, code, version, len(pmus), n))
    return pmus, n


def main():
    parser = argparse.ArgumentParser(description="the page of all events")
    parser.add_argument("--pfm", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--style", default=os.path.join(HERE, "site.css"))
    parser.add_argument("--script", default=os.path.join(HERE, "events.js"))
    parser.add_argument("--version", default="")
    a = parser.parse_args()
    os.makedirs(a.out, exist_ok=True)
    pmus, n = build(a.pfm, a.out, a.style, a.script, a.version)
    print("%d PMUs, %d events" % (len(pmus), n))
    return 0


if __name__ == "__main__":
    sys.exit(main())
