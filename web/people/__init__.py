"""Pages of people: the list, the search box of the header, one person with everything known."""
