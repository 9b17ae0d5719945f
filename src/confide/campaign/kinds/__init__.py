"""The kinds of campaigns that come with confide: each is registered under the entry point `confide.kinds`."""
