"""The campaign kind `search`: from a custodian's file to the list of people who were found."""
