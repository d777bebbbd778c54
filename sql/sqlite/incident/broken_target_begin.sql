-- A row with an invalid time: the exporter refuses to guess its age. The mark, which belongs to no
-- transaction, keeps consumers from taking the row.
INSERT INTO WorkQueue (EnqueuedAt, TranId, Payload)
VALUES ('tomorrow', -1, 'pick goods');
