"""The kinds of work, as workers do them and as coordinators ask for them."""
