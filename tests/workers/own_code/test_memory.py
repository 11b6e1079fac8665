"""Members begin at boundaries of memory, so that what they compute does not depend on their place in a cohort."""

from __future__ import annotations

import pytest
import torch

from workers.own_code.memory import BYTES, at_boundary, in_rows


@pytest.mark.parametrize("shape", [(3,), (3, 0), (3, 7), (3, 16), (3, 5, 3), (3, 2, 3, 1)])
@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.int64])
def test_every_row_begins_at_a_boundary(shape: tuple[int, ...], kind: torch.dtype) -> None:
    numbers = (10 * torch.rand(shape)).to(kind)
    rows = in_rows(numbers)
    assert torch.equal(rows, numbers) and rows.dtype == kind
    assert all(row.data_ptr() % BYTES == 0 for row in rows if row.numel())
    assert rows.numel() == 0 or rows.data_ptr() != numbers.data_ptr()


def test_what_begins_elsewhere_is_copied() -> None:
    numbers = torch.arange(20.0)
    assert at_boundary(numbers) is numbers
    copy = at_boundary(numbers[3:])
    assert torch.equal(copy, numbers[3:]) and copy.data_ptr() % BYTES == 0
