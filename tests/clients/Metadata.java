// pgjdbc as its users call it: java -cp postgresql.jar Metadata.java PORT
// The rows are those of tests/slt. What it says that the driver has is what `shows` held.
import java.sql.*;
import java.util.*;
import java.util.concurrent.atomic.AtomicLong;

public class Metadata {
    interface Rows {
        ResultSet get() throws SQLException;
    }

    static final String ENDLESS = "SELECT count(*) FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b";
    static final List<String> faults = new ArrayList<>();

    interface Checks {
        void run() throws SQLException;
    }

    static int made = 0;

    static void check(String what, boolean is) {
        made++;
        if (!is) faults.add(what);
    }

    /** Says that the driver has an aspect, by the words of the table, once the checks have passed. Without a check it is a fault. */
    static void shows(String aspect, String by, Checks checks) throws SQLException {
        int madeBefore = made, faultsBefore = faults.size();
        checks.run();
        check(aspect + ": " + by + ": nothing was checked", made > madeBefore);
        if (faults.size() == faultsBefore) System.out.println("has " + aspect + ": " + by);
    }

    /** The rows as lists of texts; at least so many. */
    static List<List<String>> rows(String what, int least, Rows asked) {
        List<List<String>> all = new ArrayList<>();
        try (ResultSet found = asked.get()) {
            int columns = found.getMetaData().getColumnCount();
            while (found.next()) {
                List<String> row = new ArrayList<>();
                for (int place = 1; place <= columns; place++) row.add(found.getString(place));
                all.add(row);
            }
            check(what + ": " + all.size() + " rows, not " + least, all.size() >= least);
        } catch (Throwable wrong) {
            faults.add(what + ": " + wrong);
        }
        return all;
    }

    static void metadata(DatabaseMetaData data) throws SQLException {
        List<List<String>> tables = rows("getTables", 10, () -> data.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}));
        for (List<String> table : tables) check("only ours: " + table, table.get(1).equals("public"));
        check("a table", tables.stream().anyMatch(t -> t.get(2).equals("spans") && t.get(3).equals("TABLE") && String.valueOf(t.get(4)).startsWith("One row")));
        check("a view", tables.stream().anyMatch(t -> t.get(2).equals("traces") && t.get(3).equals("VIEW")));
        rows("getTables of all", 100, () -> data.getTables(null, null, "%", null));
        List<List<String>> columns = rows("getColumns", 20, () -> data.getColumns(null, "public", "scores", "%"));
        check("a comment", columns.stream().anyMatch(c -> c.get(3).equals("metric") && "The metric.".equals(c.get(11))));
        check("a type", columns.stream().anyMatch(c -> c.get(3).equals("value") && c.get(5).equals("float8")));
        rows("getColumns of all", 100, () -> data.getColumns(null, null, "%", "%"));
        rows("getPrimaryKeys", 0, () -> data.getPrimaryKeys(null, "public", "spans"));
        rows("getImportedKeys", 0, () -> data.getImportedKeys(null, "public", "spans"));
        rows("getExportedKeys", 0, () -> data.getExportedKeys(null, "public", "spans"));
        rows("getCrossReference", 0, () -> data.getCrossReference(null, "public", "spans", null, "public", "scores"));
        rows("getIndexInfo", 0, () -> data.getIndexInfo(null, "public", "spans", false, true));
        rows("getBestRowIdentifier", 0, () -> data.getBestRowIdentifier(null, "public", "spans", 2, true));
        rows("getVersionColumns", 1, () -> data.getVersionColumns(null, "public", "spans"));
        rows("getTypeInfo", 50, data::getTypeInfo);
        rows("getSchemas", 3, data::getSchemas);
        rows("getSchemas by name", 1, () -> data.getSchemas(null, "pub%"));
        rows("getCatalogs", 1, data::getCatalogs);
        rows("getTableTypes", 1, data::getTableTypes);
        rows("getProcedures", 0, () -> data.getProcedures(null, null, "%"));
        rows("getProcedureColumns", 0, () -> data.getProcedureColumns(null, "public", "%", "%"));
        rows("getFunctions", 5, () -> data.getFunctions(null, "public", "%"));
        rows("getFunctionColumns", 5, () -> data.getFunctionColumns(null, "public", "%", "%"));
        rows("getTablePrivileges", 1, () -> data.getTablePrivileges(null, "public", "spans"));
        rows("getColumnPrivileges", 1, () -> data.getColumnPrivileges(null, "public", "spans", "%"));
        rows("getClientInfoProperties", 1, data::getClientInfoProperties);
        check("words", data.getSQLKeywords().length() > 0);
        check("a version", data.getDatabaseProductVersion().startsWith("16.0"));
        check("lengths", data.getMaxColumnNameLength() == 63 && data.getMaxColumnsInIndex() == 32);
    }

    static void queries(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        shows("large", "rows in parts", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.setFetchSize(1000);
                List<List<String>> large = rows("in parts", 100000, () -> statement.executeQuery("SELECT value FROM generate_series(1, 100000)"));
                check("large", large.size() == 100000);
            }
        });
        shows("parameters", "times", () -> times(connection));
        shows("parameters", "lists", () -> {
            try (PreparedStatement prepared = connection.prepareStatement("SELECT name FROM spans WHERE name = ANY(?)")) {
                prepared.setArray(1, connection.createArrayOf("text", new Object[] {"chat gpt-x", "none"}));
                rows("a list", 1, prepared::executeQuery);
            }
        });
        connection.commit();
        connection.setReadOnly(true);
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        check("isolation", connection.getTransactionIsolation() == Connection.TRANSACTION_REPEATABLE_READ);
        check("a schema", connection.getSchema().equals("public"));
        shows("types", "yes", () -> types(connection));
        connection.rollback();
        connection.setAutoCommit(true);
        shows("cancel", "timeouts", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.setQueryTimeout(1);
                fails(statement, ENDLESS, "57014");
            }
        });
        shows("cancel", "`cancel`", () -> cancelled(connection));
        shows("errors", "SQLSTATE", () -> {
            try (Statement statement = connection.createStatement()) {
                fails(statement, "SELECT * FROM nope", "42P01");
            }
        });
    }

    static void fails(Statement statement, String sql, String state) {
        try {
            statement.executeQuery(sql);
            faults.add("no error: " + sql);
        } catch (SQLException why) {
            check(sql + ": " + why, state.equals(why.getSQLState()));
        }
    }

    static void times(Connection connection) throws SQLException {
        String typed = "SELECT name, start_time, duration_ns, cost_usd, ? FROM spans WHERE name <> ? AND duration_ns > ? AND start_time > ?";
        try (PreparedStatement prepared = connection.prepareStatement(typed)) {
            prepared.setString(1, "x");
            prepared.setString(2, "none");
            prepared.setLong(3, -1);
            prepared.setTimestamp(4, new Timestamp(0));
            // From the fifth time on it is a statement of the server.
            for (int times = 0; times < 8; times++) rows("prepared", 1, prepared::executeQuery);
            try (ResultSet found = prepared.executeQuery()) {
                check("a row", found.next() && found.getTimestamp(2) != null && found.getLong(3) >= 0);
            }
        }
    }

    static void types(Connection connection) throws SQLException {
        String types = "SELECT ARRAY[1, 2], ARRAY['a'], true, 1::int2, 1.5::float4, 1.25::numeric, date '2026-01-01', time '10:00', timestamp '2026-01-01 00:00', now(), interval '1 day', null";
        try (Statement statement = connection.createStatement(); ResultSet found = statement.executeQuery(types)) {
            check("types", found.next() && found.getBoolean(3) && found.getDate(7) != null && found.getArray(2) != null);
            for (int place = 1; place <= 12; place++) found.getObject(place);
        }
    }

    /** A query ends within a second of the request in the best of ten tries: where it did not run yet, the request is lost. */
    static void cancelled(Connection connection) throws SQLException {
        List<Long> taken = new ArrayList<>();
        while (taken.size() < 10 && taken.stream().noneMatch(millis -> millis < 1000)) {
            AtomicLong asked = new AtomicLong();
            try (Statement statement = connection.createStatement()) {
                Thread asking = new Thread(() -> {
                    try {
                        Thread.sleep(200);
                        asked.set(System.nanoTime());
                        statement.cancel();
                    } catch (InterruptedException | SQLException wrong) {
                        faults.add("cancel: " + wrong);
                    }
                });
                asking.start();
                fails(statement, ENDLESS, "57014");
                taken.add((System.nanoTime() - asked.get()) / 1_000_000);
                asking.join();
            } catch (InterruptedException wrong) {
                faults.add("cancel: " + wrong);
                return;
            }
        }
        check("cancelled after " + taken + " ms", taken.get(taken.size() - 1) < 1000);
    }

    public static void main(String[] arguments) throws SQLException {
        String url = "jdbc:postgresql://127.0.0.1:" + arguments[0] + "/groundline?user=me&password=x&sslmode=disable";
        try (Connection connection = DriverManager.getConnection(url)) {
            DatabaseMetaData data = connection.getMetaData();
            shows("metadata", "all of `DatabaseMetaData`", () -> metadata(data));
            queries(connection);
        }
        faults.forEach(System.out::println);
        if (!faults.isEmpty()) System.exit(1);
        System.out.println("all ok");
    }
}
