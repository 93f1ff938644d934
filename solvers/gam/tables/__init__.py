"""Tables of any size, read from CSV, Parquet or JSON rows in blocks, one column at a time and never as objects per cell."""

from solvers.gam.tables.table import ColumnType, Table, read_table, table_blocks

__all__ = ["ColumnType", "Table", "read_table", "table_blocks"]
