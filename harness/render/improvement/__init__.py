"""What makes a judge better, and what its errors follow, in the terminal."""
