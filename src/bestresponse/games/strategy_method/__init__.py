"""The strategy method: answers for every case, given before anybody knows which one it is."""
