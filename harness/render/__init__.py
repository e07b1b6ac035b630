"""What people see: terminal tables, progress, files."""
