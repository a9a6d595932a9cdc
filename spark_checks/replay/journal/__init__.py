"""What was replayed is noted as it goes, so that a replay that was killed can go on."""
