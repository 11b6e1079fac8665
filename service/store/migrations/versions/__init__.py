"""One file for each step. A step that was released is never changed: databases have gone through it."""
