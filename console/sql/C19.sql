-- Tables and columns, with what each one is.
SELECT "table", "column", type, doc FROM table_columns;
