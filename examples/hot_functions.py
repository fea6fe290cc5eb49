# SPDX-License-Identifier: MIT
"""The functions in which a recorded program spent its time, and a flame graph.

    pfm record -g -o perf.data -- program
    python3 hot_functions.py perf.data [flame.svg]
"""
import sys

import perfmon


def main(path: str = "perf.data", graph: str = "") -> None:
    profile = perfmon.profile(path)
    for message in profile.messages:
        print(message, file=sys.stderr)
    for function in profile.functions()[:10]:
        print(
            f"{100 * function.self_share:6.2f}%"
            f" +-{100 * function.self_error:5.2f} {100 * function.children_share:6.2f}% "
            f" {function.function}  ({function.object})"
        )
    if graph:
        with open(graph, "w", encoding="utf-8") as f:
            f.write(profile.flame_graph().svg)


if __name__ == "__main__":
    main(*sys.argv[1:])
