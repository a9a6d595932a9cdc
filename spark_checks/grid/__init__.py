"""The grid: each query in each configuration meets each fault, and is judged."""
