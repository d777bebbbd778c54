-- A message for the mailer.
INSERT INTO OutgoingMessage (Subject, Recipient)
VALUES (:subject, :recipient);
