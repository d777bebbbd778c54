-- A row whose time is none: the exporter refuses to guess its age. The mark, which no transaction has,
-- keeps consumers from taking the row.
INSERT INTO WorkQueue (EnqueuedAt, TranId, Payload)
VALUES ('tomorrow', -1, 'pick goods');
