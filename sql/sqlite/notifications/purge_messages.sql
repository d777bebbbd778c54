-- Messages beyond the newest :keep (a mailer would have sent them), at most :batch at a time.
DELETE FROM OutgoingMessage
WHERE MessageId IN (SELECT MessageId FROM OutgoingMessage ORDER BY MessageId DESC LIMIT :batch OFFSET :keep);
