"""Why a run breaks a claim: which values contradict it, and which steps matter."""
