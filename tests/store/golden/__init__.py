"""Model files as released versions wrote them; every later version must read them."""
