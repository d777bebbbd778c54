SELECT
    (SELECT count(*) FROM JobQueue),
    (SELECT count(*) FROM WorkQueue),
    (SELECT count(*) FROM Comment),
    (SELECT count(*) FROM CustomerOrder),
    (SELECT count(*) FROM NotificationControl),
    (SELECT count(*) FROM OutgoingMessage),
    (SELECT count(*) FROM RunLog),
    (SELECT holder FROM application_lock WHERE resource = 'notifications');
