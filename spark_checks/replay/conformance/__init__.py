"""Whether real runs are behaviours of the model of micro-batches."""
