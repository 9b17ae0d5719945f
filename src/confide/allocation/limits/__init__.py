"""What no private matching can do: lower bounds on supply, and the gadgets that attain them."""
