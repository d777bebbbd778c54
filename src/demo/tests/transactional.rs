//! The transactional queue.

use rusqlite::Connection;

use super::super::transactional::{commit, enqueue, rollback, take};
use super::{Lab, counts};

fn taken(connection: &Connection) -> Vec<i64> {
    connection
        .prepare(include_str!("taken.sql"))
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn a_taken_row_is_passed_over_by_others() {
    let lab = Lab::new();
    let (one, two) = (lab.connect(), lab.connect());
    let ids: Vec<i64> = (0..3).map(|n| enqueue(&one, &format!("work {n}")).unwrap()).collect();

    let first = take(&one, 1).unwrap().unwrap();
    assert_eq!((first.work_id, first.payload.as_deref()), (ids[0], Some("work 0")));
    assert_eq!(take(&two, 2).unwrap().unwrap().work_id, ids[1]);
    assert_eq!(take(&one, 1).unwrap().unwrap().work_id, ids[2], "a transaction may take several");
    assert_eq!(take(&two, 2).unwrap(), None);
    assert_eq!(taken(&one), ids);
}

#[test]
fn commit_removes_only_what_the_transaction_took() {
    let lab = Lab::new();
    let db = lab.connect();
    let ids: Vec<i64> = (0..3).map(|_| enqueue(&db, "work").unwrap()).collect();
    take(&db, 1).unwrap().unwrap();
    take(&db, 2).unwrap().unwrap();

    assert_eq!(commit(&db, 1).unwrap(), 1);
    assert_eq!(counts(&db).work, 2);
    assert_eq!(taken(&db), [ids[1]]);
    assert_eq!(commit(&db, 1).unwrap(), 0, "it holds nothing any more");
    assert_eq!(take(&db, 3).unwrap().unwrap().work_id, ids[2]);
}

#[test]
fn rollback_brings_the_rows_back_to_their_place() {
    let lab = Lab::new();
    let db = lab.connect();
    let ids: Vec<i64> = (0..3).map(|_| enqueue(&db, "work").unwrap()).collect();
    take(&db, 1).unwrap().unwrap();
    take(&db, 2).unwrap().unwrap();

    assert_eq!(rollback(&db, 1).unwrap(), 1);
    assert_eq!(taken(&db), [ids[1]]);
    assert_eq!(take(&db, 3).unwrap().unwrap().work_id, ids[0], "ahead of what came later");
    assert_eq!(counts(&db).work, 3);
}
