-- The demo's three systems in one SQLite file. Running it again changes nothing.
--
-- Times are UTC text, YYYY-MM-DD HH:MM:SS.SSS, always written by the database's clock, so that
-- two of them compare as text. Keys are AUTOINCREMENT because an id must never be
-- reused after its row was deleted: readers of the logs remember the last id they saw, and a control row
-- remembers a comment by its id.

-- Lease queue. State: R ready, W working, D done, F failed for good. Attempts counts claims.
-- ClaimedAt and LastError remain when an attempt ends, until the next claim or failure. The token of a
-- finished job remains: a worker that lost the answer to its completion can check whether it was its own.
CREATE TABLE IF NOT EXISTS JobQueue (
    JobId       INTEGER PRIMARY KEY AUTOINCREMENT,
    State       TEXT    NOT NULL CHECK (State IN ('R', 'W', 'D', 'F')),
    ClaimToken  TEXT,
    LeaseUntil  TEXT,
    ClaimedAt   TEXT,
    AvailableAt TEXT    NOT NULL,
    EnqueuedAt  TEXT    NOT NULL,
    Attempts    INTEGER NOT NULL DEFAULT 0,
    MaxAttempts INTEGER NOT NULL CHECK (MaxAttempts > 0),
    LastError   TEXT,
    FinishedAt  TEXT,
    BusinessKey TEXT,
    Payload     TEXT    NOT NULL,
    -- A job in progress without an owner or an end of its lease could never be recovered.
    CHECK (State <> 'W' OR (ClaimToken IS NOT NULL AND LeaseUntil IS NOT NULL))
) STRICT;

-- The claim walks it in order and stops at the first row; every unfinished state is one seek.
-- The row id, which ends every index, breaks ties.
CREATE INDEX IF NOT EXISTS IX_JobQueue_State_AvailableAt ON JobQueue (State, AvailableAt);

-- One job per business key, so that enqueueing the same thing twice adds one job.
CREATE UNIQUE INDEX IF NOT EXISTS UX_JobQueue_BusinessKey ON JobQueue (BusinessKey)
    WHERE BusinessKey IS NOT NULL;

-- For the purge only; contains no unfinished row.
CREATE INDEX IF NOT EXISTS IX_JobQueue_Finished ON JobQueue (State, FinishedAt)
    WHERE FinishedAt IS NOT NULL;

-- The lease queue's history: one row per attempt, written in the transaction that ended it. Outcome:
-- ok, error, or lost when the lease lapsed and the job was taken away. An attempt without a start
-- was begun by hand, not by a claim.
CREATE TABLE IF NOT EXISTS JobAttempt (
    AttemptId  INTEGER PRIMARY KEY AUTOINCREMENT,
    JobId      INTEGER NOT NULL,
    Attempt    INTEGER NOT NULL,
    Outcome    TEXT    NOT NULL CHECK (Outcome IN ('ok', 'error', 'lost')),
    EnqueuedAt TEXT    NOT NULL,
    StartedAt  TEXT,
    EndedAt    TEXT    NOT NULL,
    DurationMs INTEGER,
    Message    TEXT
) STRICT;

-- Transactional queue: a row taken by a consumer carries the id of its transaction; commit
-- deletes it, rollback clears the mark.
CREATE TABLE IF NOT EXISTS WorkQueue (
    WorkId     INTEGER PRIMARY KEY AUTOINCREMENT,
    EnqueuedAt TEXT    NOT NULL,
    TranId     INTEGER,
    Payload    TEXT
) STRICT;

CREATE INDEX IF NOT EXISTS IX_WorkQueue_TranId ON WorkQueue (TranId);

-- Events that cause notifications.
CREATE TABLE IF NOT EXISTS Comment (
    CommentId INTEGER PRIMARY KEY AUTOINCREMENT,
    ItemId    INTEGER NOT NULL,
    Author    TEXT    NOT NULL,
    Recipient TEXT    NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS IX_Comment_ItemId ON Comment (ItemId, CommentId);

CREATE TABLE IF NOT EXISTS CustomerOrder (
    OrderId   INTEGER PRIMARY KEY AUTOINCREMENT,
    Recipient TEXT NOT NULL,
    RemindAt  TEXT
) STRICT;

-- One row per event; the unique key limits each event to one message.
CREATE TABLE IF NOT EXISTS NotificationControl (
    NotificationId INTEGER PRIMARY KEY AUTOINCREMENT,
    Kind           TEXT    NOT NULL,
    Key            INTEGER NOT NULL,
    Key2           INTEGER NOT NULL DEFAULT 0,
    CreatedAt      TEXT    NOT NULL,
    CONSTRAINT UQ_NotificationControl UNIQUE (Kind, Key, Key2)
) STRICT;

CREATE TABLE IF NOT EXISTS OutgoingMessage (
    MessageId INTEGER PRIMARY KEY AUTOINCREMENT,
    Subject   TEXT NOT NULL,
    Recipient TEXT NOT NULL
) STRICT;

-- One row per step and one (Step 'run') per run, written when it has ended.
CREATE TABLE IF NOT EXISTS RunLog (
    RunLogId   INTEGER PRIMARY KEY AUTOINCREMENT,
    Step       TEXT    NOT NULL,
    StartedAt  TEXT    NOT NULL,
    EndedAt    TEXT    NOT NULL,
    DurationMs INTEGER NOT NULL,
    Candidates INTEGER,
    Outcome    TEXT    NOT NULL CHECK (Outcome IN ('ok', 'warning', 'error', 'skipped')),
    Message    TEXT
) STRICT;

CREATE INDEX IF NOT EXISTS IX_RunLog_StartedAt ON RunLog (StartedAt);

-- Replaces sp_getapplock, which SQLite lacks: one row is one exclusive lock.
CREATE TABLE IF NOT EXISTS application_lock (
    resource    TEXT PRIMARY KEY NOT NULL,
    holder      TEXT NOT NULL,
    acquired_at TEXT NOT NULL
) STRICT;
