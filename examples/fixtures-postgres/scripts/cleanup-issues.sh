#!/bin/sh
# Empties the table.
exec "$ISSUES_SERVER" -exec "DELETE FROM issues"
