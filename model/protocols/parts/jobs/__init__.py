"""Parts of a batch job: shuffles, committers, who may commit."""
