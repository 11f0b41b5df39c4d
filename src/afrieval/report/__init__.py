"""What people see: tables and their formats, pages and figures."""
