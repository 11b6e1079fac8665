"""Numbers with a pedigree: studies kept beside the texts, and the texts' numbers written from them."""
