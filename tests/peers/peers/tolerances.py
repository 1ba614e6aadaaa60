"""When two lists of outputs are equal.

Integers and booleans are equal. Real numbers differ by at most RTOL times the largest finite
magnitude of the output; NaN and infinities are in the same places. Outputs of integer kernels that
are declared float have steps: the mode `steps` permits one step of an integer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from peers.samples import Arrays


@dataclass(frozen=True)
class Tolerance:
    """Relative to the largest magnitude, and steps of integers."""

    rtol: float
    steps: int = 0
    fraction: float = 0.0
    """This part of the elements may differ by anything: an 8-bit step before a comparison."""


ABSOLUTE = 1e-7  # of real numbers, beside every relative tolerance
FLOAT = Tolerance(1e-4)
HALF = Tolerance(3e-2)
INTEGER = Tolerance(1e-5)
STEP = Tolerance(2e-2, steps=1)
OWNERS_STEPS = Tolerance(5e-2, steps=2, fraction=0.005)


def _numbers_differ(got: np.ndarray, want: np.ndarray, allowed: Tolerance) -> str | None:
    a, b = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return "NaN in other places"
    special = ~finite & ~np.isnan(b)
    if not np.array_equal(a[special], b[special]) or not np.isfinite(a[finite]).all():
        return "infinities in other places"
    if not finite.any():
        return None
    scale = max(float(np.abs(b[finite]).max()), ABSOLUTE)
    errors = np.maximum(np.abs(a[finite] - b[finite]) - ABSOLUTE, 0) / scale
    if float((errors > allowed.rtol).mean()) <= allowed.fraction:
        return None
    count = (errors > allowed.rtol).sum()
    return f"differs by {errors.max():.3g} of the largest value, {count} of {errors.size}"


def largest_errors(got: np.ndarray, want: np.ndarray) -> tuple[float, int]:
    """The largest difference of real numbers, relative to the largest magnitude, and of integers."""
    if got.shape != want.shape or not want.size or want.dtype == np.bool_:
        return 0.0, 0
    errors = np.abs(got.astype(np.float64) - want.astype(np.float64))
    if not np.issubdtype(want.dtype, np.floating):
        return 0.0, int(errors.max())
    scale = max(float(np.abs(want).max()), ABSOLUTE)
    return (float(errors.max()) / scale if np.isfinite(errors).all() else 0.0), 0


def _integers_differ(got: np.ndarray, want: np.ndarray, allowed: Tolerance) -> str | None:
    errors = np.abs(got.astype(np.float64) - want.astype(np.float64))
    if float((errors > allowed.steps).mean() if errors.size else 0) <= allowed.fraction:
        return None
    return (
        f"integers differ by {errors.max():.0f}, {(errors > allowed.steps).sum()} of {errors.size}"
    )


def difference(got: Arrays, want: Arrays, allowed: Tolerance = FLOAT) -> str | None:
    """Why the outputs are not equal, or None. A scalar and one element are the same."""
    if len(got) != len(want):
        return f"{len(got)} outputs, not {len(want)}"
    for position, (a, b) in enumerate(zip(got, want, strict=False)):
        reason = _output_differs(a, b, allowed)
        if reason is not None:
            return f"output {position}: {reason}"
    return None


def _output_differs(a: np.ndarray, b: np.ndarray, allowed: Tolerance) -> str | None:
    if a.shape != b.shape and not (a.size == b.size == 1):
        return f"shape {list(a.shape)}, not {list(b.shape)}"
    a, b = a.reshape(b.shape), b
    if b.dtype.kind in "OUS" or a.dtype.kind in "OUS":
        return None if a.astype(str).tolist() == b.astype(str).tolist() else "strings differ"
    if b.dtype.kind in "biu":
        return _integers_differ(a, b, allowed)
    return _numbers_differ(a, b, allowed)
