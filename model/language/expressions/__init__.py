"""What a model computes with: operators, quantifiers, choices and extremes."""
