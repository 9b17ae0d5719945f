"""A bank's answers for tests: pain.002."""

from __future__ import annotations

from xml.sax.saxutils import escape

SPACE = "urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"


def single(reference: str | None, status: str | None, more: str = "") -> str:
    named = "" if reference is None else f"<OrgnlEndToEndId>{escape(reference)}</OrgnlEndToEndId>"
    code = "" if status is None else f"<TxSts>{status}</TxSts>"
    return f"<TxInfAndSts><StsId>1</StsId>{named}{code}{more}</TxInfAndSts>"


def report(*singles: str, message: str = "M-1", group: str | None = None, order: str | None = None) -> str:
    of = "" if group is None else f"<GrpSts>{group}</GrpSts>"
    part = "" if order is None else f"<PmtInfSts>{order}</PmtInfSts>"
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="{SPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <CstmrPmtStsRpt>
    <GrpHdr><MsgId>B-77</MsgId><CreDtTm>2026-03-02T08:00:00</CreDtTm></GrpHdr>
    <OrgnlGrpInfAndSts>
      <OrgnlMsgId>{message}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>{of}
      <StsRsnInf><Rsn><Cd>AC04</Cd></Rsn></StsRsnInf>
    </OrgnlGrpInfAndSts>
    <OrgnlPmtInfAndSts>
      <OrgnlPmtInfId>{message}</OrgnlPmtInfId>{part}
      {"".join(singles)}
    </OrgnlPmtInfAndSts>
  </CstmrPmtStsRpt>
</Document>
"""
