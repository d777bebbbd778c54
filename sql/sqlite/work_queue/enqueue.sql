-- Adds a row at the end of the queue.
INSERT INTO WorkQueue (EnqueuedAt, Payload)
VALUES (strftime('%Y-%m-%d %H:%M:%f', 'now'), :payload);
