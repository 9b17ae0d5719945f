"""Erasing what a settled campaign still holds of one participant."""

from __future__ import annotations

import pyarrow as pa
from sqlalchemy import Connection, select, update

from confide.campaign.store import schema as s
from confide.contract.encoding import column_bytes, table_from_bytes

__all__ = ["erase_share"]


def erase_share(connection: Connection, campaign: int, slot: int) -> None:
    """Take one participant's share out of the stored ones; her row stays, empty."""
    data = connection.execute(select(s.share.c.data).where(s.share.c.campaign_id == campaign)).scalar()
    if data is None:
        return
    shares = table_from_bytes(bytes(data)).combine_chunks()
    if not slot < shares.num_rows:
        return
    columns = [pa.concat_arrays([column.slice(0, slot).combine_chunks(), pa.nulls(1, column.type),
                                 column.slice(slot + 1).combine_chunks()]) for column in shares.columns]
    erased = pa.table(columns, names=shares.column_names)
    connection.execute(update(s.share).where(s.share.c.campaign_id == campaign).values(data=column_bytes(erased)))
