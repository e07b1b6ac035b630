"""Labels by people who have nothing but a browser: the pages, their results, and checks of what came back."""
