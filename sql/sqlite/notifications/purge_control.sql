-- Control rows beyond the newest :keep whose event is gone, at most :batch at a time. While the
-- event exists its mark must stay, or the event would be announced again.
DELETE FROM NotificationControl
WHERE NotificationId IN (
    SELECT k.NotificationId
    FROM NotificationControl AS k
    WHERE k.NotificationId <= (
            SELECT NotificationId FROM NotificationControl ORDER BY NotificationId DESC LIMIT 1 OFFSET :keep
        )
      AND NOT EXISTS (SELECT 1 FROM Comment AS c WHERE k.Kind = 'comment' AND c.CommentId = k.Key2)
      AND NOT EXISTS (SELECT 1 FROM CustomerOrder AS o WHERE k.Kind <> 'comment' AND o.OrderId = k.Key)
    ORDER BY k.NotificationId
    LIMIT :batch
);
