"""What a class declares: state, actions, faults and claims."""
