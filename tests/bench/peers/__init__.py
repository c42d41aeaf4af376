"""The engines the product is measured against, each with the same work: four steps a run."""
