"""What a user takes home: tables, everything as JSON, a report, the methods with their papers."""
