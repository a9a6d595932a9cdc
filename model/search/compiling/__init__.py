"""Native code: LLVM IR compiled and kept, and kernels written in Python."""
