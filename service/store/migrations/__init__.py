"""Steps from the schema of each release to the next; `service.store.upgrading` walks them."""
