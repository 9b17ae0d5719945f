"""The kind `search` of campaigns: from a custodian's file to the list of the people who were found."""
