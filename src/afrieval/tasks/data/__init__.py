"""Where rows come from, how they become documents, and which of them are used."""
