"""The kind `search` of campaigns: from a custodian's file to the list of those who were found."""
