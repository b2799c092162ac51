"""Papers: their tables and figures beside what pliant computes."""
