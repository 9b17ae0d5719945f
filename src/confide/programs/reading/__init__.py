"""Reading what people handed in: tables to the records of a program."""
