#!/usr/bin/env bash
# BICs of Kosovo's banks in schwifty 2026.10.1.
#
# Kosovo has no code of ISO 3166 of its own. Its banks use XK, which the registry of IBANs lists with 20 characters, and
# which stands in their BICs too, such as NCBVXKPR. One would expect a library that accepts the one to accept the other,
# since a bank transfer names both.
#
# Seen: schwifty 2026.10.1 accepts the IBAN, with XK as its country, and refuses the BIC of the same country as one of
# an invalid country: BICs are looked up in the table of ISO 3166 of pycountry, IBANs in the registry of IBANs.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install --quiet --disable-pip-version-check "schwifty==2026.10.1" "pycountry==26.2.16"
cat > "$place/kosovo.py" <<'PYTHON'
import schwifty
from schwifty.exceptions import SchwiftyException

iban = schwifty.IBAN("XK051212012345678906")
try:
    bic = schwifty.BIC("NCBVXKPR").country_code
except SchwiftyException as error:
    bic = type(error).__name__
print(f"IBAN: country {iban.country_code}, {len(iban)} characters; BIC: {bic}")
PYTHON
found=$("$place/env/bin/python" "$place/kosovo.py")
printf 'schwifty 2026.10.1: %s\n' "$found"
[ "$found" = "IBAN: country XK, 20 characters; BIC: InvalidCountryCode" ]
echo "as described"
