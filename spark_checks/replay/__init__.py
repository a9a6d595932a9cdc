"""The engine: it steers real runs, observes them, and judges."""
