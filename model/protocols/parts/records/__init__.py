"""Parts of operators that acknowledge each record: what is saved, logged, done."""
