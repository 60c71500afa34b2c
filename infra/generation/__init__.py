"""Generation: the prompt of a packet, the strict reading of an answer, and the event it becomes."""
