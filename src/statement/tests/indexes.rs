//! Indexes: which ones a sample wants, and the advice for each.

use super::*;

/// The purpose of each index of the only target, its first key, and what may come before.
fn wanted(target: &str) -> Vec<(IndexPurpose, String, String)> {
    let config = config(Dialect::Mssql, target);
    let target = config.sources[0].targets().next().unwrap();
    let wanted = indexes(target).into_iter();
    let names =
        |columns: &[&ColumnName]| columns.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    wanted.map(|index| (index.purpose, index.column.to_string(), names(&index.constant))).collect()
}

#[test]
fn a_sample_wants_the_indexes_that_keep_it_from_reading_what_it_does_not_need() {
    let owned = |purpose, column: &str, constant: &str| (purpose, column.to_owned(), constant.to_owned());
    let queue = |keys: &str| wanted(&format!("    queues:\n      - {{ name: q, table: T, {keys} }}\n"));
    let by_state = owned(IndexPurpose::OpenStates, "S", "A B");
    let mapped = "where: { A: 1, B: 2 }, state: { column: S, map: { R: ready, D: done } }";
    assert_eq!(queue(mapped), std::slice::from_ref(&by_state));
    let related = ", lookup: { table: L, key: K, column: Id }, enqueued_at: { column: At, lookup: true }";
    assert_eq!(queue(&format!("{mapped}{related}")), [by_state, owned(IndexPurpose::RelatedRow, "K", "")]);
    assert_eq!(queue("state: { done_when_set: S }"), [owned(IndexPurpose::OpenRows, "S", "")]);
    // These read the whole table, by design or because it is so small.
    for whole in [
        "state: { constant: ready }",
        "state: { column: S, map: { R: ready } }",
        "count_done: true, state: { column: S, map: { R: ready, D: done } }",
        "state: { constant: ready }, lookup: { table: L, key: K, column: Id }",
    ] {
        assert_eq!(queue(whole), [], "{whole}");
    }
    let log = "    control_tables:\n      - { name: c, table: T, id: I, kind: K, where: { K: 1 } }\n";
    assert_eq!(wanted(log), [owned(IndexPurpose::NewRows, "I", "")]);
}

/// The statements that create the indexes of the only target.
fn advice(dialect: Dialect, target: &str) -> Vec<String> {
    let config = config(dialect, target);
    let target = config.sources[0].targets().next().unwrap();
    indexes(target).iter().map(|index| create_index(dialect, index).unwrap().trim_end().to_owned()).collect()
}

#[test]
fn an_index_holds_what_the_sample_reads_where_the_database_can_have_that() {
    let queue = "    queues:
      - name: q
        table: dbo.Job
        where: { Tenant: 1 }
        state: { column: State, map: { R: ready, W: running, D: done } }
        id: '[a]]b]'
        queue_label: tenant
        lease: { kind: until, column: Until, token: Token }
        available_at: Due
        enqueued_at: { column: At, lookup: true }
        claimed_at: { column: key, lookup: true }
        lookup: { table: Moment, key: Key, column: STATE }
        attempts: Tries
        max_attempts: { column: Tries }
";
    // The token is not read where a stored state shows claims, and no column is in an index twice.
    assert_eq!(
        advice(Dialect::Mssql, queue),
        [
            "CREATE INDEX [IX_Job_State] ON [dbo].[Job] ([State]) INCLUDE ([a]]b], [tenant], [Until], [Due], [Tries]);",
            "CREATE INDEX [IX_Moment_Key] ON [Moment] ([Key]) INCLUDE ([At]);",
        ]
    );
    assert_eq!(
        advice(Dialect::Sqlite, queue),
        [
            r#"CREATE INDEX "dbo"."IX_Job_State" ON "Job" ("State");"#,
            r#"CREATE INDEX "IX_Moment_Key" ON "Moment" ("Key");"#
        ]
    );
    let log =
        "    control_tables:\n      - { name: c, table: T, id: I, kind: K, where: { k: 1, W: x }, at: A }\n";
    assert_eq!(
        advice(Dialect::Mssql, log),
        ["CREATE UNIQUE INDEX [IX_T_I] ON [T] ([I]) INCLUDE ([K], [A], [W]);"]
    );
    let bare = "    queues:\n      - { name: q, table: T, state: { done_when_set: S } }\n";
    assert_eq!(advice(Dialect::Mssql, bare), ["CREATE INDEX [IX_T_S] ON [T] ([S]);"]);
}

#[test]
fn the_catalog_is_asked_by_the_bare_names_of_table_and_columns() {
    let target = |table: &str| {
        format!(
            "    queues:\n      - {{ name: q, table: \"{table}\", where: {{ '[a b]': 1 }}, state: {{ done_when_set: '[it''s]' }} }}\n"
        )
    };
    let asked = |dialect, table: &str| {
        let config = config(dialect, &target(table));
        let target = config.sources[0].targets().next().unwrap();
        seek(dialect, &indexes(target)[0], LOCK_TIMEOUT).unwrap().text
    };
    let text = asked(Dialect::Mssql, "[my]]db].dbo.[it's]");
    for part in [
        "FROM [my]]db].sys.indexes AS i",
        "JOIN [my]]db].sys.index_columns AS k",
        "OBJECT_ID('[my]]db].[dbo].[it''s]')",
        "wanted.column_name = 'it''s'",
        "before.column_name IN ('a b')",
    ] {
        assert!(text.contains(part), "{part} {text}");
    }
    assert!(asked(Dialect::Mssql, "dbo.t").contains("FROM sys.indexes AS i"));
    let text = asked(Dialect::Sqlite, "main.[it's]");
    for part in ["pragma_index_list('it''s', 'main')", "pragma_index_info(list.name, 'main')"] {
        assert!(text.contains(part), "{part} {text}");
    }
    assert!(asked(Dialect::Sqlite, "t").contains("pragma_table_info('t')\n"));
    assert_eq!(
        advice(Dialect::Sqlite, &target("main.[it's]")),
        [r#"CREATE INDEX "main"."IX_it's_it's" ON "it's" ("it's");"#]
    );
    assert_eq!(
        advice(Dialect::Mssql, &target("[my]]db].dbo.t")),
        ["CREATE INDEX [IX_t_it's] ON [my]]db].[dbo].[t] ([it's]) INCLUDE ([a b]);"]
    );
    // The name of an index may be longer than that of a table can be.
    let long = "x".repeat(128);
    assert!(advice(Dialect::Mssql, &target(&long))[0].contains(&format!("[IX_{long}_it's]")));
}
