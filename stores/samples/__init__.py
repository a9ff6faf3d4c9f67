"""Sample data of every new sandbox store, of test stores and of the demo: the rows of a store, and the words of a bakery."""
