"""From files to columns: the only room that opens trace files."""
