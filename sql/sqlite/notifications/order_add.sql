-- An order comes in; with :remind_ms, its customer gets a reminder that much later.
INSERT INTO CustomerOrder (Recipient, RemindAt)
VALUES (
    :recipient,
    CASE
        WHEN :remind_ms IS NOT NULL
        THEN strftime('%Y-%m-%d %H:%M:%f', 'now', printf('%+.3f seconds', :remind_ms / 1000.0))
    END
);
