# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.tables.design import Design as Design
from confide.tables.design import Encoded as Encoded
from confide.tables.design import Natural as Natural
from confide.tables.read_options import ColumnFacts as ColumnFacts
from confide.tables.read_options import ReadOptions as ReadOptions
from confide.tables.records import Records as Records
from confide.tables.records import read_records as read_records
from confide.tables.records import rejections as rejections
from confide.tables.roles import Above as Above
from confide.tables.roles import Category as Category
from confide.tables.roles import Measured as Measured
from confide.tables.roles import Numeric as Numeric
from confide.tables.roles import Word as Word
from confide.tables.roster import FirstRows as FirstRows
from confide.tables.roster import Roster as Roster
from confide.tables.sources import is_packaged as is_packaged
from confide.tables.sources import open_table as open_table
from confide.tables.table_source import CellFault as CellFault
from confide.tables.table_source import TableSource as TableSource

__all__ = [
    "Above", "Category", "CellFault", "ColumnFacts", "Design", "Encoded", "FirstRows", "Measured", "Natural",
    "Numeric", "ReadOptions", "Records", "Roster", "TableSource", "Word", "is_packaged", "open_table", "read_records",
    "rejections",
]
