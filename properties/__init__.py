"""What must hold: the ledger, the properties, and their judges."""
