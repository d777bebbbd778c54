SELECT Outcome
FROM JobAttempt
ORDER BY AttemptId;
