"""A sheet of SVG: boxes, lines and words, in colours that follow light and dark."""

from __future__ import annotations

from xml.etree import ElementTree as ET

NAMESPACE = "http://www.w3.org/2000/svg"
LIGHT = {
    "ink": "#1f2328",
    "quiet": "#59626c",
    "line": "#c9c6bf",
    "panel": "#ffffff",
    "accent": "#1d5f9e",
    "bad": "#b3261e",
    "bad-ground": "#fbeae8",
    "good": "#1f6b3a",
    "good-ground": "#e7f3ea",
    "open": "#7a5a00",
    "open-ground": "#f8f0d8",
}
DARK = {
    "ink": "#e6e4df",
    "quiet": "#a0a8b1",
    "line": "#4a5159",
    "panel": "#1a1d21",
    "accent": "#8bbcf0",
    "bad": "#ff9d94",
    "bad-ground": "#3a1f1d",
    "good": "#8fd6a6",
    "good-ground": "#1b3323",
    "open": "#e8c667",
    "open-ground": "#3a3216",
}


def colours(chosen: dict[str, str]) -> str:
    """Give colours as CSS."""
    return " ".join(f"--{name}: {colour};" for name, colour in chosen.items())


STYLE = """
svg.onceproof-picture {
  LIGHT
  background: var(--panel);
  font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
@media (prefers-color-scheme: dark) { svg.onceproof-picture { DARK } }
.onceproof-picture text { fill: var(--ink); }
.onceproof-picture text.quiet { fill: var(--quiet); }
.onceproof-picture text.bad { fill: var(--bad); }
.onceproof-picture text.good { fill: var(--good); }
.onceproof-picture text.open { fill: var(--open); }
.onceproof-picture .small { font-size: 11px; }
.onceproof-picture .large { font-size: 17px; }
.onceproof-picture .strong { font-weight: 650; }
.onceproof-picture .code {
  font-family: ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace;
}
.onceproof-picture .box { fill: var(--panel); stroke: var(--quiet); }
.onceproof-picture .frame { fill: none; stroke: var(--quiet); }
.onceproof-picture .on-bad { fill: var(--bad-ground); stroke: var(--bad); }
.onceproof-picture .on-good { fill: var(--good-ground); stroke: var(--good); }
.onceproof-picture .on-open { fill: var(--open-ground); stroke: var(--open); }
.onceproof-picture .ground { fill: var(--bad-ground); stroke: none; }
.onceproof-picture .edge { fill: none; stroke: var(--quiet); }
.onceproof-picture .thick { stroke-width: 2.2; stroke: var(--accent); }
.onceproof-picture .lane { fill: none; stroke: var(--line); stroke-width: 1.5; }
.onceproof-picture .rule { fill: none; stroke: var(--line); stroke-width: 0.75; }
.onceproof-picture .down { stroke: var(--bad); stroke-dasharray: 2 5; }
.onceproof-picture .mark { fill: var(--ink); stroke: var(--ink); stroke-width: 1.8; }
.onceproof-picture .weak { fill: var(--panel); }
.onceproof-picture .cross {
  fill: var(--panel); stroke: var(--bad); stroke-width: 2.2;
}
.onceproof-picture .ring { fill: none; stroke: var(--bad); stroke-width: 2; }
""".replace("LIGHT", colours(LIGHT)).replace("DARK", colours(DARK))


class Canvas:
    """A picture of a size in pixels, drawn from the back to the front."""

    def __init__(
        self, width: float, height: float, title: str, description: str
    ) -> None:
        """Begin; ``title`` and ``told`` are what a screen reader says."""
        self._root = ET.Element(
            "svg",
            {
                "xmlns": NAMESPACE,
                "class": "onceproof-picture",
                "viewBox": f"0 0 {_number(width)} {_number(height)}",
                "width": _number(width),
                "height": _number(height),
                "role": "img",
                "aria-label": f"{title}. {description}",
            },
        )
        ET.SubElement(self._root, "title").text = title
        ET.SubElement(self._root, "desc").text = description
        ET.SubElement(self._root, "style").text = STYLE

    def box(
        self,
        at: tuple[float, float],
        size: tuple[float, float],
        kind: str,
        *,
        round_: float = 6,
        hint: str = "",
    ) -> None:
        """Draw a box by its upper left corner; ``hint`` is as a path's."""
        self._draw("rect", kind, x=at[0], y=at[1], width=size[0], height=size[1])
        self._root[-1].set("rx", _number(round_))
        self._hint(hint)

    def words(
        self, at: tuple[float, float], text: str, kind: str = "", *, anchor: str = ""
    ) -> None:
        """Write a line; ``anchor`` is middle or end where it does not begin there."""
        self._draw("text", kind, x=at[0], y=at[1])
        self._root[-1].text = text
        if anchor:
            self._root[-1].set("text-anchor", anchor)

    def dot(self, at: tuple[float, float], radius: float, kind: str) -> None:
        """Draw a circle."""
        self._draw("circle", kind, cx=at[0], cy=at[1], r=radius)

    def path(self, curve: str, kind: str, *, hint: str = "") -> None:
        """Draw a path; ``hint`` is shown where the pointer rests on it."""
        self._draw("path", kind)
        self._root[-1].set("d", curve)
        self._hint(hint)

    def text(self) -> str:
        """Give the file."""
        ET.indent(self._root, "")
        return ET.tostring(self._root, encoding="unicode") + "\n"

    def _hint(self, text: str) -> None:
        if text:
            ET.SubElement(self._root[-1], "title").text = text

    def _draw(self, tag: str, kind: str, **numbers: float) -> None:
        attributes = {name: _number(value) for name, value in numbers.items()}
        ET.SubElement(
            self._root, tag, {**({"class": kind} if kind else {}), **attributes}
        )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def points(corners: list[tuple[float, float]]) -> str:
    """Give a path through points that are one above the other, without corners."""
    (x, y), *rest = corners
    commands = [f"M{_number(x)} {_number(y)}"]
    for to_x, to_y in rest:
        middle = (y + to_y) / 2
        commands.append(
            f"C{_number(x)} {_number(middle)} {_number(to_x)} {_number(middle)} "
            f"{_number(to_x)} {_number(to_y)}"
        )
        x, y = to_x, to_y
    return " ".join(commands)
