"""The operating-point plot as inline SVG: availability against mean control failure.

Made by hand: a page must open anywhere, without a script or a font from elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

WIDTH: Final = 720
HEIGHT: Final = 420
LEFT: Final = 60
RIGHT: Final = 170
TOP: Final = 20
BOTTOM: Final = 50
TICKS: Final = 5
NEAR: Final = 13  # Labels nearer than this would lie on each other.


@dataclass(frozen=True, slots=True)
class Point:
    """One variant: its name, place, the class of its dot, and its intervals (None: none)."""

    name: str
    avail: float
    failure: float
    style: str
    avail_low: float
    avail_high: float
    failure_low: float
    failure_high: float


def draw_points(points: Sequence[Point]) -> str:
    """Return the plot; dots carry their interval as a cross and their name beside them."""
    label = 'aria-label="availability against mean control failure"'
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" {label}>', *_draw_axes()]
    taken: list[float] = []
    for point in sorted(points, key=lambda one: (-one.failure, one.name)):
        parts.extend(_draw_point(point, taken))
    return "".join([*parts, "</svg>"])


def _draw_axes() -> list[str]:
    parts = []
    for tick in range(TICKS + 1):
        share = tick / TICKS
        x, y = _place(share, share)
        parts.append(f'<line class="grid" x1="{x}" y1="{TOP}" x2="{x}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}"/>')
        parts.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" class="mid">{share:.1f}</text>')
        parts.append(f'<text x="{LEFT - 10}" y="{y + 4}" class="end">{share:.1f}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{HEIGHT - 8}" class="mid">structured commitment availability</text>'
    )
    turn = f"rotate(-90 16 {HEIGHT / 2})"
    parts.append(
        f'<text x="16" y="{HEIGHT / 2}" class="mid" transform="{turn}">mean control failure</text>'
    )
    return parts


def _draw_point(point: Point, taken: list[float]) -> list[str]:
    x, y = _place(point.avail, point.failure)
    left, low = _place(point.avail_low, point.failure_low)
    right, high = _place(point.avail_high, point.failure_high)
    label = y + 4
    while any(abs(label - other) < NEAR for other in taken):
        label += NEAR
    taken.append(label)
    name = escape(point.name)
    where = WIDTH - RIGHT + 12
    said = f"{name}: availability {point.avail:.3f}, failure {point.failure:.3f}"
    return [
        f'<line class="bar" x1="{left}" y1="{y}" x2="{right}" y2="{y}"/>',
        f'<line class="bar" x1="{x}" y1="{low}" x2="{x}" y2="{high}"/>',
        f'<line class="lead" x1="{x}" y1="{y}" x2="{where - 4}" y2="{label - 4}"/>',
        f'<circle class="{point.style}" cx="{x}" cy="{y}" r="5"><title>{said}</title></circle>',
        f'<text x="{where}" y="{label}">{name}</text>',
    ]


def _place(avail: float, failure: float) -> tuple[float, float]:
    x = LEFT + avail * (WIDTH - LEFT - RIGHT)
    y = HEIGHT - BOTTOM - failure * (HEIGHT - TOP - BOTTOM)
    return round(x, 1), round(y, 1)
