"""From a forward graph to one that also computes its gradients."""
