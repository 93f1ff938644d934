"""Rows of a Parquet file, read in batches of its row groups."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import IO

import pyarrow as pa
import pyarrow.parquet

from solvers.operation import InvalidInput

BATCH_ROWS = 64 * 1024


class ParquetRows:
    """Rows of a Parquet file.

    Parameters
    ----------
    stream : binary file that can seek

    Raises
    ------
    InvalidInput
        If it is no Parquet file.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        try:
            self._file = pa.parquet.ParquetFile(stream)
        except (pa.ArrowInvalid, OSError) as error:
            raise InvalidInput(f"the file is not Parquet: {str(error)[:200]}") from None
        self.names: list[str] = self._file.schema_arrow.names

    def blocks(self, wanted: Sequence[str], declared: Collection[str] = ()) -> Iterator[Mapping[str, pa.Array]]:
        """Yield the wanted columns of some rows after the other."""
        try:
            for batch in self._file.iter_batches(BATCH_ROWS, columns=list(wanted), use_threads=False):
                yield {name: batch.column(name) for name in wanted}
        except (pa.ArrowInvalid, OSError) as error:
            raise InvalidInput(f"the Parquet file is damaged: {str(error)[:200]}") from None
