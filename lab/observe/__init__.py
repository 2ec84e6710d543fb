"""What is seen of a server and of its machine while something is measured."""
