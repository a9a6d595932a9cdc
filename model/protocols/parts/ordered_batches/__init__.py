"""Parts of a topology whose batches have numbers: spouts, states, their order."""
