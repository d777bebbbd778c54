-- Orders that have not been confirmed yet, oldest first.
SELECT o.OrderId AS Key, 0 AS Key2, o.Recipient
FROM CustomerOrder AS o
WHERE NOT EXISTS (
    SELECT 1
    FROM NotificationControl AS k
    WHERE k.Kind = 'order' AND k.Key = o.OrderId AND k.Key2 = 0
)
ORDER BY o.OrderId
LIMIT :cap;
