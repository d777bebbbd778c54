//! Answers of statements, and what they leave of the connection.

use super::fake::{ATTENTION, DONE_ATTENTION, DONE_ERROR, DONE_MORE, error, nvarchar};
use super::*;
use crate::limits::MAX_RESULT_ROWS;

#[tokio::test]
async fn integers_of_any_width_and_text_come_back_as_values() {
    let (mut connection, mut peer) = session().await;
    let head = columns(&[
        ("tiny", Kind::Integer(1)),
        ("small", Kind::Integer(2)),
        ("int", Kind::Integer(4)),
        ("big", Kind::Integer(8)),
        ("bit", Kind::Bit),
        ("text", Kind::NVarChar),
    ]);
    let full = row(&[
        fixed(&[255]),
        fixed(&(-2_i16).to_le_bytes()),
        fixed(&(-3_i32).to_le_bytes()),
        fixed(&i64::MIN.to_le_bytes()),
        fixed(&[1]),
        nvarchar(Some("zażółć")),
    ]);
    let null = row(&[fixed(&[]), fixed(&[]), fixed(&[]), fixed(&[]), fixed(&[]), nvarchar(None)]);
    let answer = [head, full, null, done(DONE_FINAL)].concat();
    let rows = ask(&mut connection, &mut peer, &answer).await.unwrap();
    assert_eq!(rows.columns, ["tiny", "small", "int", "big", "bit", "text"]);
    let full = vec![
        Value::Int(255),
        Value::Int(-2),
        Value::Int(-3),
        Value::Int(i64::MIN),
        Value::Int(1),
        Value::Text("zażółć".to_owned()),
    ];
    assert_eq!(rows.rows, [full, vec![Value::Null; 6]]);
}

#[tokio::test]
async fn a_lone_surrogate_does_not_hide_the_row() {
    let (mut connection, mut peer) = session().await;
    let broken = [vec![4, 0], vec![0x00, 0xd8, 0x41, 0x00]].concat();
    let answer = [columns(&[("s", Kind::NVarChar)]), row(&[broken]), done(DONE_FINAL)].concat();
    let rows = ask(&mut connection, &mut peer, &answer).await.unwrap();
    assert_eq!(rows.rows, [vec![Value::Text("\u{fffd}A".to_owned())]]);
}

#[tokio::test]
async fn only_the_first_result_set_counts() {
    let (mut connection, mut peer) = session().await;
    let answer = [
        // What SET and DECLARE leave behind.
        done(DONE_MORE),
        columns(&[("n", Kind::Integer(8))]),
        row(&[fixed(&1_i64.to_le_bytes())]),
        done(DONE_MORE),
        columns(&[("when", Kind::DateTime)]),
        row(&[fixed(&[0; 8])]),
        done(DONE_FINAL),
    ]
    .concat();
    let rows = ask(&mut connection, &mut peer, &answer).await.unwrap();
    assert_eq!(rows, Rows { columns: vec!["n".to_owned()], rows: vec![vec![Value::Int(1)]] });
    // None at all is no error.
    let rows = ask(&mut connection, &mut peer, &done(DONE_FINAL)).await.unwrap();
    assert_eq!(rows, Rows::default());
    assert_usable(&mut connection, &mut peer).await;
}

#[tokio::test]
async fn another_type_is_refused_by_name_and_costs_only_the_statement() {
    let (mut connection, mut peer) = session().await;
    let head = columns(&[("n", Kind::Integer(8)), ("claimed", Kind::DateTime)]);
    let null = row(&[fixed(&[]), fixed(&[])]);
    for rows in [vec![], null] {
        let answer = [head.clone(), rows, done(DONE_FINAL)].concat();
        let error = ask(&mut connection, &mut peer, &answer).await.unwrap_err();
        assert_eq!((error.reason, error.connection_lost), (Reason::Decode, false), "{error}");
        assert!(error.message.contains("column claimed is of type Datetime"), "{error}");
    }
    assert_usable(&mut connection, &mut peer).await;
}

#[tokio::test]
async fn parameters_travel_beside_the_text() {
    let (mut connection, mut peer) = session().await;
    let parameters = [Value::Int(7), Value::Text("a'b".to_owned()), Value::Null]
        .map(|value| Parameter { meaning: "a test's", value });
    let asked = Statement { text: "SELECT @P1".to_owned(), parameters: parameters.to_vec() };
    let served = async {
        let (kind, request) = peer.read().await;
        peer.answer(&one_bigint(7)).await;
        // An RPC, not a batch.
        assert_eq!(kind, 0x03);
        let declared: Vec<u8> =
            "@P1 bigint,@P2 nvarchar(4000),@P3 bigint".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(request.windows(declared.len()).any(|window| window == declared));
    };
    let (rows, ()) = tokio::join!(connection.query(&asked, PATIENCE), served);
    assert_eq!(rows.unwrap().rows, [vec![Value::Int(7)]]);
}

#[tokio::test]
async fn a_servers_error_leaves_the_connection_in_step() {
    let (mut connection, mut peer) = session().await;
    let head = columns(&[("n", Kind::Integer(8))]);
    let one = row(&[fixed(&1_i64.to_le_bytes())]);
    for answer in [
        // Before the first row, after some, and with a result set after it.
        [error(1222, 16, "Lock request time out period exceeded."), done(DONE_ERROR)].concat(),
        [head.clone(), one.clone(), error(1222, 16, "Lock request"), done(DONE_ERROR)].concat(),
        [error(1222, 16, "Lock"), done(DONE_ERROR | DONE_MORE), head, one, done(DONE_FINAL)].concat(),
    ] {
        let error = ask(&mut connection, &mut peer, &answer).await.unwrap_err();
        assert_eq!((error.reason, error.connection_lost), (Reason::LockTimeout, false), "{error}");
        assert!(error.message.starts_with("error 1222, level 16, state 1: Lock"), "{error}");
        assert_usable(&mut connection, &mut peer).await;
    }
}

#[tokio::test]
async fn an_error_whose_text_leaves_the_remedy_open_names_it() {
    let (mut connection, mut peer) = session().await;
    for (number, text, remedy) in [
        (
            10794,
            "The table option 'readpast' is not supported with memory optimized tables.",
            "give the target `read_mode: read_committed`, which reads without a hint",
        ),
        (
            9820,
            "The time zone parameter 'Mars Standard Time' provided to AT TIME ZONE clause is invalid.",
            "sys.time_zone_info lists the zones that this server has",
        ),
    ] {
        let answer = [error(number, 16, text), done(DONE_ERROR)].concat();
        let error = ask(&mut connection, &mut peer, &answer).await.unwrap_err();
        assert_eq!((error.reason, error.connection_lost), (Reason::Other, false), "{error}");
        let expected = format!("error {number}, level 16, state 1: {text} (line 3); {remedy}");
        assert_eq!(error.message, expected);
    }
    assert_usable(&mut connection, &mut peer).await;
}

#[tokio::test]
async fn a_long_message_keeps_its_line_number() {
    let (mut connection, mut peer) = session().await;
    let answer = [error(50000, 16, &"long\r\n".repeat(500)), done(DONE_ERROR)].concat();
    let error = ask(&mut connection, &mut peer, &answer).await.unwrap_err();
    assert_eq!(error.reason, Reason::Other);
    assert!(error.message.ends_with("(line 3)") && error.message.chars().count() <= 500, "{error}");
    assert!(!error.message.contains('\n'));
}

#[tokio::test]
async fn a_fatal_error_ends_the_connection() {
    let (mut connection, mut peer) = session().await;
    let answer = [error(596, 21, "The session is in the kill state."), done(DONE_ERROR)].concat();
    let error = ask(&mut connection, &mut peer, &answer).await.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::Connect, true), "{error}");
    assert_lost(&mut connection, &mut peer).await;
}

#[tokio::test]
async fn a_connection_that_breaks_inside_a_row_is_lost() {
    let (mut connection, mut peer) = session().await;
    let asked = statement("SELECT 1");
    let served = async move {
        peer.read().await;
        let whole = one_bigint(1);
        peer.begin(&whole[..whole.len() - 20]).await;
    };
    let (answer, ()) = tokio::join!(connection.query(&asked, PATIENCE), served);
    let error = answer.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::Connect, true), "{error}");
}

#[tokio::test]
async fn an_answer_that_is_no_tds_loses_the_connection() {
    let (mut connection, mut peer) = session().await;
    let error = ask(&mut connection, &mut peer, &[0x07; 30]).await.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::Connect, true), "{error}");
    assert_lost(&mut connection, &mut peer).await;
}

/// The server's part in a cancellation: it reads a request and nothing happens until the deadline
/// has passed and the client sends an attention signal.
async fn stall_until_attention(peer: &mut Peer, time: &StoppedTime) {
    peer.read().await;
    time.pass(DEADLINE).await;
    assert_eq!(peer.read().await.0, ATTENTION);
}

#[tokio::test(start_paused = true)]
async fn after_the_deadline_a_confirmed_cancel_keeps_the_connection() {
    let time = StoppedTime::new();
    let (mut connection, mut peer) = session().await;
    let asked = statement("WAITFOR DELAY '1:00'");
    let served = async {
        stall_until_attention(&mut peer, &time).await;
        peer.answer(&done(DONE_ATTENTION)).await;
    };
    let (answer, ()) = tokio::join!(connection.query(&asked, DEADLINE), served);
    let error = answer.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::Timeout, false), "{error}");
    assert!(error.message.contains("was cancelled"), "{error}");
    assert_usable(&mut connection, &mut peer).await;
}

#[tokio::test(start_paused = true)]
async fn after_the_deadline_a_server_that_does_not_confirm_is_left() {
    let time = StoppedTime::new();
    let (mut connection, mut peer) = session().await;
    let asked = statement("WAITFOR DELAY '1:00'");
    let served = async {
        stall_until_attention(&mut peer, &time).await;
        time.pass(CANCEL_TIMEOUT).await;
    };
    let (answer, ()) = tokio::join!(connection.query(&asked, DEADLINE), served);
    let error = answer.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::Timeout, true), "{error}");
    assert_lost(&mut connection, &mut peer).await;
}

/// Whether the deadline struck between two rows or inside one cannot be known, and what follows
/// half a row could be taken for anything.
#[tokio::test(start_paused = true)]
async fn after_the_deadline_a_connection_with_half_an_answer_is_left() {
    let time = StoppedTime::new();
    // Far more than the sockets of both sides can hold between them: what is sent was received in
    // part, at least.
    let head = columns(&[("n", Kind::Integer(8)), ("text", Kind::NVarChar)]);
    let long = row(&[fixed(&1_i64.to_le_bytes()), nvarchar(Some(&"x".repeat(4000)))]);
    let rows = long.repeat(7);
    for cut in [long.len(), long.len() - 4] {
        let (mut connection, mut peer) = session().await;
        let asked = statement("SELECT 1");
        let (begun, rest) = long.split_at(cut);
        let served = async {
            peer.read().await;
            peer.begin(&head).await;
            for _ in 0..150 {
                peer.begin(&rows).await;
            }
            peer.begin(begun).await;
            time.pass(DEADLINE).await;
            assert_eq!(peer.read().await.0, ATTENTION);
            peer.answer(&[rest, done(DONE_ATTENTION).as_slice()].concat()).await;
        };
        let (answer, ()) = tokio::join!(connection.query(&asked, DEADLINE), served);
        let error = answer.unwrap_err();
        assert_eq!((error.reason, error.connection_lost), (Reason::Timeout, true), "{error}");
        assert_lost(&mut connection, &mut peer).await;
    }
}

#[tokio::test(start_paused = true)]
async fn too_many_rows_are_cancelled_not_collected() {
    let _time = StoppedTime::new();
    let (mut connection, mut peer) = session().await;
    let asked = statement("SELECT n FROM numbers");
    let many = row(&[fixed(&1_i64.to_le_bytes())]).repeat(1000);
    let served = async {
        peer.read().await;
        peer.begin(&columns(&[("n", Kind::Integer(8))])).await;
        for _ in 0..=MAX_RESULT_ROWS / 1000 {
            peer.begin(&many).await;
        }
        assert_eq!(peer.read().await.0, ATTENTION);
        peer.answer(&[many.clone(), done(DONE_ATTENTION)].concat()).await;
    };
    let (answer, ()) = tokio::join!(connection.query(&asked, PATIENCE), served);
    let error = answer.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::Decode, false), "{error}");
    assert!(error.too_many_rows, "{error}");
    assert_usable(&mut connection, &mut peer).await;
}

#[tokio::test]
async fn a_statement_nobody_waits_for_closes_the_connection() {
    let (mut connection, mut peer) = session().await;
    let asked = statement("WAITFOR DELAY '1:00'");
    let mut query = connection.query(&asked, PATIENCE);
    tokio::select! {
        _ = &mut query => panic!("there was no answer"),
        _ = peer.read() => {}
    }
    drop(query);
    assert_lost(&mut connection, &mut peer).await;
}

/// The statement may end just as it is cancelled; the confirmation then comes as a message of its
/// own, which must not become the answer of the next statement.
#[tokio::test(start_paused = true)]
async fn an_answer_that_crosses_the_cancel_is_not_mixed_up() {
    let time = StoppedTime::new();
    let (mut connection, mut peer) = session().await;
    let asked = statement("SELECT 1");
    let served = async {
        stall_until_attention(&mut peer, &time).await;
        peer.answer(&one_bigint(1)).await;
        peer.answer(&done(DONE_ATTENTION)).await;
    };
    let (answer, ()) = tokio::join!(connection.query(&asked, DEADLINE), served);
    let error = answer.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::Timeout, true), "{error}");
    assert_lost(&mut connection, &mut peer).await;
}
