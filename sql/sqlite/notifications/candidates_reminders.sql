-- Orders whose reminder is due and has not been sent yet, oldest first.
SELECT o.OrderId AS Key, 0 AS Key2, o.Recipient
FROM CustomerOrder AS o
WHERE o.RemindAt <= strftime('%Y-%m-%d %H:%M:%f', 'now')
  AND NOT EXISTS (
      SELECT 1
      FROM NotificationControl AS k
      WHERE k.Kind = 'reminder' AND k.Key = o.OrderId AND k.Key2 = 0
  )
ORDER BY o.OrderId
LIMIT :cap;
