# SPDX-License-Identifier: MIT
"""Rows and columns for other people's tools: dicts that any table takes, and HTML that a notebook
shows."""
from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

SHOWN = 60  # rows of a table in a notebook


def make_records(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """A dict for each row, of Python's own numbers."""
    plain = [c.tolist() if hasattr(c, "tolist") else list(c) for c in columns.values()]
    return [dict(zip(columns, row)) for row in zip(*plain)]


def make_columns(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """A list for each of @names."""
    return {name: [row[name] for row in rows] for name in names}


def _format_cell(text: object, kind: str) -> str:
    words = html.escape(str(text))
    if kind == "number":
        return f'<td style="text-align:right">{words}</td>'
    return (
        f'<th scope="row" style="text-align:left">{words}</th>'
        if kind == "name"
        else f'<td style="text-align:left">{words}</td>'
    )


def format_table(heads: Sequence[str], rows: Iterable[Sequence[object]], kinds: Sequence[str],
                 n: int, caption: str = "") -> str:
    """An HTML table of the first rows of @n. kinds: ``name``, ``number`` or ``text`` for each
    column. Everything is escaped."""
    out = ["<table>"]
    if caption:
        out.append(f"<caption>{html.escape(caption)}</caption>")
    out.append("<thead><tr>%s</tr></thead><tbody>" %
               "".join(f'<th scope="col">{html.escape(h)}</th>' for h in heads))
    out += [
        "<tr>%s</tr>" % "".join(map(_format_cell, row, kinds))
        for row, _ in zip(rows, range(SHOWN))
    ]
    if n > SHOWN:
        out.append(f'<tr><td colspan="{len(heads)}">and {n - SHOWN} more</td></tr>')
    return "".join(out) + "</tbody></table>"
