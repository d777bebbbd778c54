SELECT Step, Outcome, DurationMs, Candidates, Message
FROM RunLog
ORDER BY RunLogId;
